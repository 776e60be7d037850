"""The rules by which logs are read: kinds in the order of how much they explain, with words, sentence and remedy."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rule:
    """One kind of failure. ``overcome`` matches what a program says when it goes on in another way."""

    kind: str
    pattern: re.Pattern[str]
    what: str
    remedy: str
    is_machines: bool = False
    overcome: re.Pattern[str] | None = None


def _any(*words: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{word})" for word in words), re.IGNORECASE)


# Lines that sound alike and say that nothing happened, or that name tests.
HARMLESS = _any(
    r"this is not a failure",
    r"\b(?:PASSED|SKIPPED|XFAIL)\b",
    r"NCCL INFO",
    r"\bUserWarning: (?!.*(?:driver on your system|not compatible with the current|CUDA initialization|free disk space))",
    r"unauthenticated requests to the HF Hub",
    r"(?:DeprecationWarning|FutureWarning)",
    r"Retrying \(Retry\(total=",
    r"TF-TRT Warning",
    r" requires [\w.<>=,!~-]+, which is not installed\.",  # pip, of what was installed before
)

RULES: tuple[Rule, ...] = (
    Rule(
        "gpu_lost",
        _any(
            r"fallen off the bus",
            r"GPU is lost",
            r"uncorrectable (?:NVLink |ECC |DBE )?(?:ECC )?error",
            r"Unable to determine the device handle",
            r"NVRM: Xid .*: (?:48|62|63|64|74|79|92|94|95|119|120|137|140),",
            r"CUDA error: (?:device not ready|hardware stack error|unspecified launch failure due to hardware)",
            r"CUDA_ERROR_(?:ECC_UNCORRECTABLE|HARDWARE_STACK_ERROR)",
            r"ERR!.*\bfallen\b",
        ),
        "The GPU itself failed",
        "Run it again: another machine will be taken. If it comes back, report the host to the provider.",
        is_machines=True,
    ),
    Rule(
        "driver_too_old",
        _any(
            r"NVIDIA driver on your system is too old",
            r"CUDA driver version is insufficient for CUDA runtime version",
            r"cudaErrorInsufficientDriver|CUDA_ERROR_SYSTEM_DRIVER_MISMATCH",
            r"forward compatibility was attempted on non[- ]supported HW",
            r"requirement error: unsatisfied condition: (?:cuda|driver)",
            r"kernel version [\d.]+ does not match DSO version",
            r"driver version [\d.]+ is (?:too old|not supported|older than)",
            r"requires (?:a |an )?(?:newer )?(?:NVIDIA |CUDA )?driver (?:version )?(?:>=|of at least|newer)",
            r"the provided PTX was compiled with an unsupported toolchain",
            r"CUDA_ERROR_UNSUPPORTED_PTX_VERSION|cudaErrorUnsupportedPtxVersion",
            r"system has unsupported display driver",
            r"outdated (?:nvidia |cuda )?driver",
        ),
        "The machine's NVIDIA driver is older than what this build of CUDA needs",
        "Take an image with an older CUDA (`environment.base_image`), or run it again for a machine with a newer driver.",
        is_machines=True,
    ),
    Rule(
        "missing_kernel_image",
        _any(
            r"no kernel image is available for execution",
            r"cudaErrorNoKernelImageForDevice|CUDA_ERROR_NO_BINARY_FOR_GPU|CUDA_ERROR_INVALID_(?:PTX|IMAGE)",
            r"is not compatible with the current PyTorch installation",
            r"only supports? (?:Ampere|Turing|Hopper|Ada|Blackwell)[^.]*(?:GPUs?|or newer|architecture)",
            r"Value 'sm_\w+' is not defined for option 'gpu-name'",
            r"ptxas .*fatal *: *Unsupported \.version",
            r"Unsupported gpu architecture 'compute_",
            r"only supported on GPUs with compute capability",
            r"requires (?:a GPU with )?(?:CUDA )?compute capability (?:of )?(?:at least|>=)",
            r"device kernel image is invalid",
            r"Feature '[^']+' (?:requires|not supported on) .*\.?target",
        ),
        "What is installed has no kernels for this GPU's architecture",
        "Take an image whose torch is built for this card (newer cards need newer CUDA), or another card (`--gpu`).",
    ),
    Rule(
        "cuda_out_of_memory",
        _any(
            r"CUDA out of memory",
            r"torch\.(?:cuda\.)?OutOfMemoryError",
            r"RESOURCE_EXHAUSTED: ?Out of memory",
            r"Resource exhausted: OOM when allocating",
            r"ResourceExhaustedError.*OOM|OOM when allocating tensor",
            r"No available memory for the cache blocks",
            r"larger than the (?:available KV cache memory|maximum number of tokens that can be stored in KV cache)",
            r"(?:CUBLAS|CUDNN|CUSOLVER|CUSPARSE)_STATUS_ALLOC_FAILED",
            r"cudaMalloc failed: out of memory",
            r"CUDA error:? (?:2\b.*|at .*)?out of memory|CUDA_ERROR_OUT_OF_MEMORY|cudaErrorMemoryAllocation",
            r"cuda runtime error \(2\)|Error out of memory at line \d+ in file",
            r"Failed to allocate memory for (?:requested buffer|allocation|request)",
            r"not enough (?:GPU|VRAM|CUDA|free GPU|device) memory",
            r"Free memory on device.* is less than desired GPU memory utilization",
            r"std::bad_alloc: .*(?:cuda|rmm)|cudaErrorMemoryAllocation",
        ),
        "The GPU ran out of memory",
        "Halve the batch and accumulate gradients, switch gradient checkpointing on, or ask for more (`hardware.vram_required_gb`).",
        overcome=_any(r"retrying without", r"falling back to (?:a )?smaller", r"Trying (?:a )?(?:smaller|lower) batch"),
    ),
    Rule(
        "nccl",
        _any(
            r"NCCL WARN",
            r"NCCL (?:error|failure)",
            r"ncclSystemError|ncclUnhandledCudaError|ncclInternalError|ncclInvalidUsage|ncclRemoteError",
            r"Watchdog caught collective operation timeout",
            r"ProcessGroupNCCL.*(?:timed? ?out|timeout|aborted)",
            r"peer access is not supported between these two devices",
            r"Duplicate GPU detected",
            r"NCCL communicator was aborted",
            r"DistBackendError",
        ),
        "The GPUs could not talk to each other (NCCL)",
        "Try `NCCL_P2P_DISABLE=1` or `NCCL_SHM_DISABLE=1` under `env`, set `NCCL_DEBUG=INFO` to see why, or take one card.",
    ),
    Rule(
        "host_out_of_memory",
        _any(
            r"oom-kill|Out of memory: Killed process",
            r"DataLoader worker \(pid\(?s?\)? ?[\d, ]+\)? (?:is killed by signal|exited unexpectedly)",
            r"killed by signal: (?:Killed|Bus error)",
            r"exit(?:ed with)? ?code:? ?-9|exitcode: -9|exit status 137|[Ee]xited with code 137|exit code:? 137|\(137\)",
            r"Unable to allocate [\d.]+ [KMGTP]i?B for an array",
            r"^(?:.*line \d+: +\d+ )?Killed\b(?: |$)",
            r"insufficient shared memory",
            r"DefaultCPUAllocator: (?:can't allocate|not enough) memory",
            r"Cannot allocate memory|MemoryError\b(?!: CUDA)",
            r"Bus error",
            r"OOMKilled|killed due to memory pressure",
            r"\(SIGKILL\)|SIGKILL",
        ),
        "The machine ran out of main memory",
        "Fewer DataLoader workers, smaller shards, or more memory (`hardware.memory_gb`); for `/dev/shm` fewer workers.",
    ),
    Rule(
        "disk_full",
        _any(
            r"No space left on device",
            r"Disk quota exceeded",
            r"don't have enough free space",
            r"not enough (?:free )?(?:disk )?space",
            r"file write failed",
            r"PytorchStreamWriter failed",
            r"database or disk is full",
            r"There is not enough space on the disk",
        ),
        "The disk is full",
        "Ask for more (`hardware.disk_gb`), or keep fewer checkpoints.",
    ),
    Rule(
        "hub_token",
        _any(
            r"GatedRepoError|gated repo|access a gated",
            r"is restricted\. You must (?:have access|be authenticated)",
            r"is restricted and you are not in the authorized list",
            r"RepositoryNotFoundError: 40[134]|RepositoryNotFoundError",
            r"LocalTokenNotFoundError|no token found",
            r"40[13] Client Error.*(?:huggingface|Forbidden|Unauthorized)",
            r"Invalid (?:username or password|user token|credentials in Authorization header)",
            r"DatasetNotFoundError|cannot be accessed$",
            r"is not a valid model identifier listed on",
            r"private or gated|pass a token having permission|token seems (?:to be )?invalid|Authorization header is correct, but",
            r"Your request to access .* (?:is awaiting|has been)",
        ),
        "Hugging Face's Hub let nobody in",
        "Ask for access on the model's page. No token lies on the machine: take an open copy of the weights, or a mirror.",
    ),
    Rule(
        "no_gpu",
        _any(r"Torch not compiled with CUDA enabled", r"built without (?:CUDA|GPU) support", r"not built with CUDA"),
        "What is installed was built without CUDA",
        "Let the requirements keep the image's own torch, or name one with CUDA (`torch==...+cu128` with its index).",
    ),
    Rule(
        "no_gpu",
        _any(
            r"No CUDA GPUs are available",
            r"no CUDA-capable device is detected|CUDA_ERROR_NO_DEVICE",
            r"could not select device driver",
            r"NVIDIA-SMI has failed",
            r"CUDA unknown error",
            r"No NVIDIA graphics adapter",
            r"Failed to initialize NVML",
            r"^No devices were found\s*$",
            r"nvidia-smi: (?:command )?not found",
            r"Found no NVIDIA driver",
            r"CUDA-capable device(?:s|\(s\))? (?:are|is/are) busy or unavailable",
            r"libnvidia-ml\.so\.1: cannot open",
            r"libcuda\.so\.1: cannot open",
            r"no NVIDIA GPU (?:detected|found)",
            r"nvidia-container-cli: (?:initialization error|device error)",
        ),
        "No GPU was seen",
        "Run it again: another machine will be taken. `/gpu-lol validate` says what the driver answers.",
        is_machines=True,
    ),
    Rule(
        "missing_package",
        _any(
            r"(?:ModuleNotFoundError|ImportError): No module named",
            r"^(?:E +)?(?:ImportError|OSError): lib[\w.+-]+: cannot open shared object file",
            r"error while loading shared libraries",
            r": command not found",
            r"CUDA_HOME environment variable is not set",
            r"fatal error: [\w/.]+\.h: No such file",
            r"ImportError: (?:cannot import name|Using|This modeling file requires|.*requires .*(?:library|package|install))",
            r"(?:is|are|be) not installed|but it was not found in your environment",
            r"FileNotFoundError: .*No such file or directory: '(?:ninja|git|gcc|g\+\+|nvcc|ffmpeg|cmake|make|aria2c|wget|curl|unzip)'",
            r"Unable to load any of \{lib",
            r"PackageNotFoundError|DistributionNotFound",
            r"Could not find a version that satisfies the requirement",
            r"ImportError: .*undefined symbol",
            r"Could not load library libcudnn",
            r"nvcc(?:: | was )not found",
            r"has no attribute '\w+'.*(?:version|install)",
            r"ImportError: .*(?:version|is required|pip install)",
        ),
        "A package or library is missing",
        "Add it to the requirements, `system_packages` or `setup_commands` of `.gpu-lol.yaml`.",
    ),
    Rule(
        "network",
        _any(
            r"Could not resolve host",
            r"Temporary failure (?:in name resolution|resolving)",
            r"Name or service not known",
            r"Network is unreachable",
            r"Read timed out|ReadTimeoutError|ConnectTimeout",
            r"Max retries exceeded",
            r"TLS handshake timeout",
            r"Connection (?:reset by peer|refused|aborted|timed out)",
            r"Failed to establish a new connection",
            r"We couldn't connect to 'https?://",
            r"LocalEntryNotFoundError|OfflineModeIsEnabled",
            r"ProxyError|SSLError|CERTIFICATE_VERIFY_FAILED",
            r"IncompleteRead|ChunkedEncodingError|RemoteDisconnected",
            r"(?:50[0234]|429) (?:Server|Client) Error",
            r"early EOF|RPC failed|CondaHTTPError|CONNECTION FAILED for url",
        ),
        "A download broke off",
        "Run it again; `hub` among the machine's checks says whether Hugging Face's Hub can be reached.",
        is_machines=True,
    ),
)
