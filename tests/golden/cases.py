"""Domain values for the comments' goldens: one story (a fine-tune that outgrows its card), and its hostile twin."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal

from gpu_lol_action.domain.analysis import Analysis, Override, Profile
from gpu_lol_action.domain.command_spec import DoorKind
from gpu_lol_action.domain.corrected_spec import correct_spec
from gpu_lol_action.domain.corrections import Corrections
from gpu_lol_action.domain.environment import (
    Attempt,
    Bill,
    Check,
    CheckStatus,
    EnvironmentRecord,
    Lease,
    PhaseTime,
    Requester,
    SshEndpoint,
    State,
    Tombstone,
)
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.label import LabelWord
from gpu_lol_action.domain.leases import Warn
from gpu_lol_action.domain.machine import Look
from gpu_lol_action.domain.memory import MemoryBreakdown, MemoryTerm
from gpu_lol_action.domain.offer import Candidate, Ladder, Offer, PriceSource, Rejected, Requirement
from gpu_lol_action.domain.policy import Policy
from gpu_lol_action.domain.proposal_note import ProposalNote
from gpu_lol_action.domain.request import Command, Deny, ParseProblem, PullRequest, Repository
from gpu_lol_action.domain.rescue import Rescue
from gpu_lol_action.domain.smoke import (
    SmokeHistory,
    SmokeIntent,
    SmokeMachine,
    SmokeResult,
    SmokeRun,
    SmokeTest,
    TestCase,
    TestReport,
    TestStatus,
)
from gpu_lol_action.domain.smoke_intent import lost_runs
from gpu_lol_action.domain.smoke_issue import StandingIssue, stand
from gpu_lol_action.domain.snapshot import Change, Snapshot
from gpu_lol_action.domain.spec import EnvironmentSpec, Hardware, Meta, SpecDifference, WorkloadType
from gpu_lol_action.domain.waiting import Waiting
from gpu_lol_action.errors import Explanation, SpecError
from gpu_lol_action.handlers.estimate import estimate_case
from gpu_lol_action.intake.label_gate import check_label
from gpu_lol_action.launch.access import Readers
from gpu_lol_action.launch.command import Output
from gpu_lol_action.pricing.budget import Spending
from gpu_lol_action.pricing.smoke_cost import SmokeCost, read_schedule
from gpu_lol_action.render import comments
from gpu_lol_action.render.comments import ReplyTo
from gpu_lol_action.render.views_projects import ProjectsCase
from gpu_lol_action.render.views_proposal import ProposalCase
from gpu_lol_action.render.views_sealed import Sealed
from gpu_lol_action.render.views_smoke import SmokeCase
from gpu_lol_action.render.views_smoke_issue import SmokeIssueCase
from gpu_lol_action.render.views_snapshot import SnapshotCase
from tests.golden import change_cases, project_cases
from tests.golden.awaiting_case import awaiting_text
from tests.golden.budget_case import budget_text
from tests.golden.change_cases import change_of
from tests.golden.offers_cases import OFFERS_CASES

NOW = datetime(2026, 11, 20, 14, 7, tzinfo=timezone.utc)
POLICY = Policy()
REPLY = ReplyTo(128, 2211)
HOSTILE = (
    "``` ````` `x` </details> --> <!-- {{7*7}} ${{ github.token }} @everyone #1 GH-2 <img src=x onerror=alert(1)> "
    "| a | b \u202egnp.exe\u200b \x1b[31mred\x07 [x](javascript:alert(1)) ![i](https://evil.example/i.png) "
    "https://evil.example www.evil.example $x$ *b* _u_ ~~s~~ &lt; \\\n# heading\n- item\n```\nfence\n```\n</summary>"
)

PULL_REQUEST = PullRequest(
    number=128,
    title="Longer context",
    state="open",
    is_draft=False,
    is_merged=False,
    author="requester",
    author_is_bot=False,
    head_sha="3f9c2ab77d1e4c0f8a6b5c4d3e2f1a0b9c8d7e6f",
    head_ref="feat/long-context",
    head_repository="acme/qwen-sft",
    base_sha="a1b9e02c3d4e5f60718293a4b5c6d7e8f9012345",
    base_ref="main",
)
REPOSITORY = Repository("acme/qwen-sft", 123456, "main")
SPEC_YAML = """\
hardware: {gpu_type: A100-80GB, gpu_count: 1, vram_required_gb: 42, disk_gb: 60}
environment: {base_image: "pytorch/pytorch:2.9.1-cuda12.8-cudnn9-runtime", python_version: "3.11", cuda_version: "12.8"}
dependencies:
  requirements: [transformers==4.57.1, peft, trl, datasets, accelerate]
meta: {name: qwen-sft, workload_type: training, created_from: auto}
"""


def spec(gpu: str | None, vram: int | None, workload: WorkloadType = WorkloadType.TRAINING) -> EnvironmentSpec:
    hardware = Hardware(gpu_type=gpu, gpu_count=1 if gpu else 0, vram_required_gb=vram)
    return EnvironmentSpec(hardware=hardware, meta=Meta(name="qwen-sft", workload_type=workload))


def breakdown(activations: float, expected: float, low: float, high: float, tokens: int) -> MemoryBreakdown:
    """What the code needs by its parts; ``high`` was asked for until the documentation's word was weighed against it."""
    return MemoryBreakdown(
        terms=(
            MemoryTerm("weights", 14.9, "Qwen2.5-7B, bf16", Evidence("train.py", 31)),
            MemoryTerm("optimizer", 0.6, "LoRA r=16, AdamW", Evidence("train.py", 54)),
            MemoryTerm("activations", activations, f"batch 4 × {tokens} tokens", Evidence("train.py", 88)),
            MemoryTerm("logits", 2.2, "vocabulary 152k", Evidence("train.py", 31)),
            MemoryTerm("overhead", 0.6, "CUDA context, kernels"),
        ),
        low_gib=low,
        expected_gib=expected,
        high_gib=max(high, asked(tokens)),
        required_gib=asked(tokens),
        method="LoRA, bf16",
        notes=(f"{high:g} GiB computed, and README.md:40 names 40 GB", "the adapters are trained in fp32"),
        computed_gib=high,
        weighed=STATED,
    )


def asked(tokens: int) -> int:
    return 46 if tokens > 1024 else 27


STATED = Finding(
    "documented.training.memory_gb",
    "40",
    "the documentation asks for 40 GB of GPU memory",
    Confidence.HIGH,
    Evidence("README.md", 40),
)


def findings(tokens: int) -> tuple[Finding, ...]:
    high = Confidence.HIGH
    return (
        Finding(
            "entry_point",
            "python train.py",
            "`python train.py` is the command to start: of 3 runs it is first by nearness to the root",
            high,
            Evidence("README.md", 12),
        ),
        Finding("workload", "training", "`python train.py` trains", high, Evidence("README.md", 12)),
        Finding("model.id", "Qwen/Qwen2.5-7B", "model loaded, 7.62 B parameters", high, Evidence("train.py", 31)),
        Finding("training.method", "lora", "adapters on `q_proj`, `v_proj`", high, Evidence("train.py", 54)),
        Finding("training.lora_rank", "16", "`lora_r` is 16", high, Evidence("train.py", 55)),
        Finding(
            "training.sequence_length", str(tokens), f"`max_seq_length` is {tokens}", high, Evidence("train.py", 88)
        ),
        STATED,
        *(
            Finding("dependencies.requirements", name, f"`{name}` is named", high, Evidence("requirements.txt", line))
            for line, name in enumerate(("transformers==4.57.1", "peft", "trl", "datasets", "accelerate"), 1)
        ),
    )


PROFILES = (
    Profile(
        name="eval",
        command="HF_HOME=/data python eval.py --split test",
        evidence=Evidence("README.md", 60),
        workload=WorkloadType.INFERENCE,
        gpu_count=1,
        vram_required_gb=18,
        breakdown=None,
        not_understood=(),
        why="a documented command that runs a model",
    ),
    Profile(
        name="prepare",
        command="python prepare.py",
        evidence=Evidence("README.md", 9),
        workload=WorkloadType.CPU_ONLY,
        gpu_count=0,
        vram_required_gb=None,
        breakdown=None,
        not_understood=(),
        why="a documented command",
    ),
)


def analysis(tokens: int = 4096) -> Analysis:
    memory = breakdown(22.9, 41.2, 37, 50, tokens) if tokens > 1024 else breakdown(5.7, 24.0, 21, 26, tokens)
    want = spec("A100-80GB" if tokens > 1024 else "A40", asked(tokens))
    return Analysis(
        spec=want,
        proposed=want,
        breakdown=memory,
        findings=findings(tokens),
        not_understood=(
            "no batch size was found; 8 was assumed",
            "`configs/*.yaml` are chosen by a command line argument",
        ),
        differences=(),
        spec_path=None,
        files_read=14,
        files_skipped=2,
        profiles=PROFILES,
    )


def offer(accelerator: str, price: str, gib: float, cloud: str = "runpod", count: int = 1) -> Offer:
    return Offer(
        cloud, accelerator, count, f"{count}x_{accelerator}", Decimal(price), None, gib, 16, 117.0, ("US", "CA")
    )


def candidate(of: Offer, why: str = "", speed: float | None = None) -> Candidate:
    return Candidate(of, of.price_usd_per_hour, of.price_usd_per_hour * 2, why, speed)


SOURCE = PriceSource("list price", date(2026, 11, 20))
A40 = offer("A40", "0.44", 45.0)
A100 = offer("A100-80GB", "1.39", 79.3)
SXM = offer("A100-80GB-SXM", "1.59", 79.3)
H100 = offer("H100", "2.99", 79.2, "lambda")
BIG = Requirement(memory_gib_per_gpu=46, gpu_count=1, clouds=("runpod", "lambda"))
LADDER = Ladder(
    BIG,
    (
        candidate(A100, "A40 has 45.0 GiB: less than the range's top"),
        candidate(SXM, "faster link"),
        candidate(H100, "", 2.1),
    ),
    (
        Rejected(A40, "45.0 GiB are less than 46"),
        Rejected(offer("H100", "23.12", 79.2, count=8), "over $3.00/h, the policy's limit"),
    ),
    SOURCE,
)
SMALL_LADDER = Ladder(replace(BIG, memory_gib_per_gpu=27), (candidate(A40, "cheapest"), candidate(A100)), (), SOURCE)
NO_FIT = Ladder(
    replace(BIG, memory_gib_per_gpu=640),
    (),
    (Rejected(A100, "79.3 GiB are less than 640"), Rejected(H100, "79.2 GiB are less than 640")),
    SOURCE,
)
NO_NEED = Ladder(replace(BIG, memory_gib_per_gpu=0, gpu_count=0), (), (), SOURCE)
CPU = replace(
    analysis(),
    spec=spec(None, None, WorkloadType.CPU_ONLY),
    proposed=spec(None, None, WorkloadType.CPU_ONLY),
    breakdown=None,
    findings=(
        Finding("workload", "cpu-only", "only scikit-learn is imported", Confidence.HIGH, Evidence("fit.py", 3)),
    ),
    not_understood=(),
)
HOST_KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIE5vdEFSZWFsS2V5QnV0VGhpcnR5VHdvQnl0ZXM="

CLAIMED = EnvironmentRecord(
    name="gl-ahreaa-128",
    state=State.CLAIMED,
    repository="acme/qwen-sft",
    repository_id=123456,
    pull_request=128,
    profile="",
    sha=PULL_REQUEST.head_sha,
    requester=Requester("requester", 42),
    run_id="9001",
    claimed_at=NOW - timedelta(minutes=4),
    lease=Lease(NOW - timedelta(minutes=4), NOW + timedelta(hours=1, minutes=58)),
    updated_at=NOW,
    user_hash="1a2b3c4d",
)
LAUNCHING = replace(
    CLAIMED,
    state=State.LAUNCHING,
    cloud="runpod",
    region="US",
    accelerator="A100-80GB-SXM",
    accelerator_count=1,
    price_usd_per_hour=Decimal("1.59"),
    name_on_cloud="gl-ahreaa-128-1a2b3c4d",
    launch_asked_at=NOW - timedelta(minutes=3),
    attempts=(
        Attempt("runpod", "A100-80GB", 1, Decimal("1.39"), "no_capacity", "in 14 regions", 11.2),
        Attempt("runpod", "A100-80GB-SXM", 1, Decimal("1.59"), "launched", "", 64.0, "US-CA-2"),
    ),
    phases=(PhaseTime("set-up", 97.0), PhaseTime("validation", 9.4)),
)
_SAID = {
    "no_capacity": "There are no longer any instances available (in each of 14 regions)",
    "quota": "You have exceeded the limit of GPUs for your account.",
    "timed_out": "no machine answered within 15 min",
    "failed": "Something went wrong. Please try again later or contact support.",
}
CHECKS = (
    Check("driver, CUDA, torch", CheckStatus.PASSED, "570.86, 12.8, 2.9.1+cu128 agree"),
    Check("GPU", CheckStatus.PASSED, "A100-SXM4-80GB, 79.3 GiB free, needs 46"),
    Check("bf16 matrix product", CheckStatus.PASSED, "right, 241 TFLOP/s"),
    Check("packages", CheckStatus.PASSED, "transformers 4.57.1, peft 0.17.0, trl 0.24.0, datasets, accelerate"),
    Check("disk, /dev/shm, Hub", CheckStatus.NOTED, "52 GB free, 58 GB, the Hub is slow: 2.1 s"),
    Check("credentials on the machine", CheckStatus.PASSED, "none"),
)
READY = replace(
    LAUNCHING,
    state=State.READY,
    ready_at=NOW - timedelta(seconds=48),
    ssh=SshEndpoint("203.0.113.7", 41822, "root", HOST_KEY),
    checks=CHECKS,
    packages=("transformers==4.57.1", "peft==0.17.0", "trl==0.24.0"),
)
ENDING = replace(
    READY, state=State.ENDING, tombstone=Tombstone("requester", "down", NOW), absences=(NOW + timedelta(seconds=9),)
)
CLOSED = replace(
    ENDING,
    state=State.CLOSED,
    closed_at=NOW + timedelta(minutes=101, seconds=41),
    absences=(NOW + timedelta(minutes=101, seconds=9), NOW + timedelta(minutes=101, seconds=41)),
    bill=Bill(NOW, NOW + timedelta(minutes=101, seconds=41), Decimal("1.59"), Decimal("2.70")),
)
FAILED = replace(
    CLOSED,
    state=State.FAILED,
    ready_at=None,
    tombstone=Tombstone("gpu-lol", "launch_failed", NOW),
    failure="`pip install -r requirements.txt` ended with 1",
    earlier_cost_usd=Decimal("0.12"),
)
STAND_IN = replace(
    READY,
    is_rehearsal=True,
    checks=(
        replace(CHECKS[0], is_stand_in=True),
        replace(CHECKS[1], is_stand_in=True, status=CheckStatus.FAILED, fix="rent another card"),
        *CHECKS[2:],
    ),
)


def _proposal(**changes: object) -> str:
    return comments.proposal(proposal_case(**changes))


def proposal_case(**changes: object) -> ProposalCase:
    """What a proposal of the story is made from."""
    case: dict[str, object] = {
        "pull_request": PULL_REQUEST,
        "repository": REPOSITORY,
        "server_url": "https://github.com",
        "analysis": analysis(),
        "ladder": LADDER,
        "base_sha": PULL_REQUEST.base_sha,
        "base_analysis": analysis(1024),
        "base_ladder": SMALL_LADDER,
        "policy": POLICY,
        "month_usd": Decimal("11.20"),
        "environment": None,
        "spec_yaml": SPEC_YAML,
        "now": NOW,
    }
    case |= changes
    base, head = case["base_analysis"], case["analysis"]
    if isinstance(base, Analysis) and isinstance(head, Analysis):
        case = {"change": change_of(base, head), **case}
    return comments.proposal_case(**case)  # type: ignore[arg-type]  # a table of keyword arguments


_SMOKE_COST = SmokeCost(
    timedelta(minutes=80), 1, Decimal("1.86"), Decimal("0.59"), read_schedule("41 3 * * *", NOW)
)  # fmt: skip
_NO_BASE: dict[str, object] = {"base_sha": None, "base_analysis": None, "base_ladder": None}
DIFFERENCE = SpecDifference(
    "hardware.vram_required_gb", "24", "46", "the code at this commit needs it since `train.py:88`"
)
_FROM_FILE = replace(
    analysis(),
    spec=spec("A40", 24),
    spec_path=".gpu-lol.yaml",
    differences=(DIFFERENCE,),
)
_BY_HAND = replace(analysis(), spec=spec("A100-80GB", 27), spec_path=".gpu-lol.yaml")
_WORST = {"worst_case_at": NOW + timedelta(hours=3)}


def _waiting() -> EnvironmentRecord:
    waiting = Waiting(NOW, NOW + timedelta(minutes=50), "policy", 3, NOW + timedelta(minutes=4))
    attempts = LAUNCHING.attempts[:1]
    return replace(LAUNCHING, attempts=attempts, phases=(), launch_asked_at=None, cloud=None, waiting=waiting)


def _launching(**changes: object) -> str:
    record = replace(LAUNCHING, phases=(), attempts=LAUNCHING.attempts[:1])
    case: dict[str, object] = {
        "record": record,
        "phase": "booting",
        "detail_lines": ("asking RunPod for 1 × A100-80GB-SXM", "pod is up, waiting for SSH"),
        "policy": POLICY,
        "now": NOW,
        "worst_case_usd": Decimal("4.82"),
        **_WORST,
    }
    return comments.launching(**{**case, **changes})  # type: ignore[arg-type]  # a table of keyword arguments


SEALED = Sealed(
    "-----BEGIN AGE ENCRYPTED FILE-----\n"
    + "YWdlLWVuY3J5cHRpb24ub3JnL3YxCi0+IHNzaC1lZDI1NTE5ICtEaVkzdyBKeFJL\n" * 12  # the shape, not a secret
    + "-----END AGE ENCRYPTED FILE-----",
    Readers(("requester", "grace"), (), "~/.ssh/id_ed25519", ("sk-ssh-ed25519@openssh.com of grace",)),
)


def _ready(
    record: EnvironmentRecord = READY,
    head_ref: str = "feat/long-context",
    name: str = "acme/qwen-sft",
    notice: Spending | None = None,
    sealed: Sealed | None = None,
) -> str:
    return comments.ready(
        record=record,
        policy=POLICY,
        now=NOW,
        repository_name=name,
        head_ref=head_ref,
        notice=notice,
        sealed=sealed,
        **_WORST,
    )


def _dry_run(ladder: Ladder = LADDER, refusals: tuple[str, ...] = ()) -> str:
    return comments.dry_run(
        ladder=ladder,
        policy=POLICY,
        now=NOW,
        month_usd=Decimal("11.20"),
        lease=POLICY.lease,
        worst_case_usd=Decimal("4.21"),
        refusals=refusals,
        reply_to=REPLY,
        **_WORST,
    )


def _estimate(*cells: tuple[str, str]) -> str:
    case = estimate_case(Command("estimate", "/gpu-lol estimate", cells=cells), Policy(), NOW)
    return comments.estimate(case, reply_to=REPLY)


SAVED = Rescue(
    NOW,
    changed=3,
    commits=1,
    files=2,
    size_bytes=219_000,
    locator="7d1c2f0e8b6a5d4c3b2a190807f6e5d4c3b2a190",
    command="gh api repos/acme/qwen-sft/git/blobs/7d1c2f0e8b6a5d4c3b2a190807f6e5d4c3b2a190"
    " -H 'Accept: application/vnd.github.raw+json' > work.age",
    recipients=1,
)


def _extended(record: EnvironmentRecord) -> str:
    longer = replace(record, lease=replace(record.lease, expires_at=record.lease.expires_at + timedelta(hours=1)))
    worst = longer.lease.expires_at + timedelta(minutes=67)
    return comments.extended(record=longer, before=record.lease, worst_case_at=worst, now=NOW, reply_to=REPLY)


def _warning(of: str, look: Look | None, record: EnvironmentRecord = READY) -> str:
    now = record.lease.expires_at - timedelta(minutes=47)
    ends_at = record.lease.expires_at if of == "lease" else now + timedelta(minutes=30)
    return comments.warning(record=record, due=Warn(of, ends_at), look=look, now=now)


_USED = Spending(Decimal("38.20"), Decimal("3.11"), Decimal("50"))


def _torn_down(record: EnvironmentRecord, notice: Spending | None = None) -> str:
    at, spent = NOW + timedelta(minutes=102), notice.month_usd if notice else Decimal("13.90")
    return comments.torn_down(
        record=record, policy=POLICY, now=at, pr_usd=Decimal("2.70"), month_usd=spent, notice=notice
    )


def _no_capacity(*answers: str) -> str:
    attempts = tuple(
        Attempt(cloud, "A100-80GB", 1, Decimal("1.39"), answer, _SAID[answer], 11.2)
        for cloud, answer in zip(("runpod", "lambda"), answers, strict=True)
    )
    record = replace(LAUNCHING, state=State.FAILED, attempts=attempts, cloud=None, name_on_cloud=None)
    return comments.no_capacity(record=record, policy=POLICY, now=NOW)


def _hostile_record(record: EnvironmentRecord) -> EnvironmentRecord:
    attempt = replace(record.attempts[0], cloud=HOSTILE, accelerator=HOSTILE, detail=HOSTILE, region=HOSTILE)
    return replace(
        record,
        name=HOSTILE,
        requester=Requester(HOSTILE),
        profile=HOSTILE,
        sha=HOSTILE,
        run_id=HOSTILE,
        cloud=HOSTILE,
        region=HOSTILE,
        accelerator=HOSTILE,
        name_on_cloud=HOSTILE,
        ssh=SshEndpoint(HOSTILE, 22, HOSTILE, HOSTILE),
        attempts=(attempt, replace(attempt, answer="launched"), replace(attempt, answer=HOSTILE)),
        phases=(PhaseTime(HOSTILE, 3.0),),
        checks=(Check(HOSTILE, CheckStatus.FAILED, HOSTILE, HOSTILE),),
        packages=(HOSTILE,),
        tombstone=Tombstone(HOSTILE, HOSTILE, NOW),
        failure=HOSTILE,
    )


_CLAIM = Override(
    "qwen3-32b",
    "train.py packs four sequences into one, which the analyzer does not see.",
    (("hardware.vram_required_gb", "46 GB", "70 GB"), ("packages", "vllm", "flash-attn, liger-kernel>=0.5")),
)


def _overridden(override: Override) -> Analysis:
    return replace(analysis(), spec=spec("A100-80GB", 70), proposed=spec("A100-80GB", 70), override=override)


def _hostile_analysis() -> Analysis:
    where = Evidence(HOSTILE, 3)
    return Analysis(
        spec=replace(spec(HOSTILE, 24), meta=Meta(name=HOSTILE)),
        proposed=spec(HOSTILE, 46),
        breakdown=MemoryBreakdown(
            (MemoryTerm(HOSTILE, 3.0, HOSTILE, where), MemoryTerm("weights", 1.0, HOSTILE, where)),
            3,
            4,
            5,
            5,
            HOSTILE,
            (HOSTILE,),
            5.0,
            Finding("documented.memory_gb", "24", HOSTILE, Confidence.LOW, where),
        ),
        findings=tuple(
            Finding(field, HOSTILE, HOSTILE, Confidence.LOW, where)
            for field in (
                HOSTILE,
                "entry_point",
                "workload",
                "model.id",
                "hardware.gpu_count",
                "environment.base_image",
                "dependencies.requirements",
                "hardware.vram_required_gb",
            )
        ),
        not_understood=(HOSTILE, f"{HOSTILE} was assumed"),
        profiles=(Profile(HOSTILE, HOSTILE, where, WorkloadType.TRAINING, 2, 24, None, (HOSTILE,), HOSTILE),),
        differences=(SpecDifference(HOSTILE, HOSTILE, HOSTILE, HOSTILE),),
        spec_path=HOSTILE,
        files_read=1,
        files_skipped=0,
    )


_HOSTILE_OFFER = replace(A100, accelerator=HOSTILE, cloud=HOSTILE)
_HOSTILE_LADDER = Ladder(
    BIG,
    (candidate(_HOSTILE_OFFER, HOSTILE), candidate(_HOSTILE_OFFER, HOSTILE)),
    (Rejected(_HOSTILE_OFFER, HOSTILE),),
    PriceSource(HOSTILE, date(2026, 11, 20)),
)
_DENY = Deny(
    "budget_exceeded",
    "this would pass the month's budget",
    "it costs about $92.48, and $11.20 of $50 are spent this month.",
    "A maintainer raises `budget.month_usd` in `.github/gpu-lol.yml` on `main`, or take what the code needs:\n/gpu-lol up",
)
_BAD_SETUP = Explanation(
    "Setting up the machine failed",
    "`pip install -r requirements.txt` ended with 1.",
    "Correct it in this PR, then:\n/gpu-lol up",
)
_LOG = "Collecting torch==9.9\n\x1b[31mERROR: No matching distribution found for torch==9.9\x1b[0m\n"

_NOTE = ProposalNote(
    Corrections(vram_gib=48, image="nvcr.io/nvidia/pytorch:25.10-py3"), {"vram": "ada", "image": "grace"}, "grace"
)
_COMMITTED = "It was committed to this branch as `7d1e4c0`."


def _corrected(note: ProposalNote) -> Analysis:
    found = analysis()
    return replace(
        found,
        spec=correct_spec(found.spec, note.corrections),
        proposed=correct_spec(found.proposed, note.corrections),
    )


SMOKE_TEST = SmokeTest("python -m pytest -m gpu", timedelta(minutes=15), "the tests marked `gpu`")
SMOKE_PASSED = SmokeRun(
    cell="L4",
    sha="4f1d" * 10,
    at=NOW - timedelta(minutes=20),
    result=SmokeResult.PASSED,
    reason_code="passed",
    exit_code=0,
    took=timedelta(minutes=4, seconds=12),
    tests=TestReport(41, 0, 2, 250.0, (), (TestCase("tests/test_train.py::test_step", TestStatus.PASSED, 91.2),)),
    machine=SmokeMachine("runpod", "L4", 1, "570.124.06", "12.8", "2.8.0+cu128", Decimal("0.39")),
    cost_usd=Decimal("0.09"),
    offers=("L4 on runpod: launched",),
    log_tail="41 passed, 2 skipped in 250.00s\n",
)
SMOKE_FAILED = replace(
    SMOKE_PASSED,
    cell="A100-80GB:2",
    result=SmokeResult.FAILED,
    reason_code="tests_failed",
    why="The command ended with exit status 1.",
    exit_code=1,
    tests=TestReport(
        40, 1, 2, 181.0, (TestCase("tests/test_fsdp.py::test_shards", TestStatus.FAILED, 12.0, "assert 3 == 4"),), ()
    ),
    machine=SmokeMachine("runpod", "A100-80GB", 2, "570.124.06", "12.8", "2.8.0+cu128", Decimal("2.78")),
    cost_usd=Decimal("0.71"),
    log_tail="E   assert 3 == 4\nFAILED tests/test_fsdp.py::test_shards - assert 3 == 4\n",
)
SMOKE_NOT_RUN = SmokeRun(
    cell="H100",
    sha="4f1d" * 10,
    at=NOW - timedelta(minutes=20),
    result=SmokeResult.NOT_RUN,
    reason_code="no_capacity",
    why="2 offers were tried, and neither has a machine now.",
    offers=("H100-SXM on runpod: no capacity", "H100 on lambda: no capacity"),
)


def _hostile_smoke() -> SmokeRun:
    return replace(
        SMOKE_FAILED,
        cell=HOSTILE,
        why=HOSTILE,
        remedy=HOSTILE,
        offers=(HOSTILE,),
        log_tail=HOSTILE,
        machine=replace(SMOKE_FAILED.machine, cloud=HOSTILE, accelerator=HOSTILE, driver=HOSTILE, torch=HOSTILE),
        tests=TestReport(0, 1, 0, 1.0, (TestCase(HOSTILE, TestStatus.FAILED, 1.0, HOSTILE),), ()),
    )


def _smoke(
    *runs: SmokeRun,
    ref: str = "main",
    is_dry_run: bool = False,
    past: Sequence[SmokeRun] = (),
    projects: Sequence[str] = ("",),
) -> str:
    history, tests = SmokeHistory((*past, *runs)), [(project, SMOKE_TEST) for project in projects]
    case = SmokeCase(ref, tests, runs, history, (), NOW, REPLY, is_dry_run=is_dry_run)
    return comments.smoke(replace(case, issue=SMOKE_ISSUE if past else None))


SMOKE_ISSUE = StandingIssue(131, is_open=True, body="", url="https://github.com/acme/qwen-sft/issues/131")


def _night(nights_ago: int, run: SmokeRun, minutes: int = 4, sha: str = "", **changes: object) -> SmokeRun:
    """The run as it was on an earlier night."""
    at = NOW.replace(hour=3, minute=41) - timedelta(days=nights_ago)
    took = timedelta(minutes=minutes, seconds=nights_ago) if run.exit_code is not None else timedelta(0)
    return replace(run, at=at, took=took, sha=sha or f"{nights_ago:x}a5c3" * 8, log_tail="", **changes)  # type: ignore[arg-type]  # keyword bag


SMOKE_RED = replace(SMOKE_FAILED, cell="L4", machine=SMOKE_PASSED.machine)
SMOKE_NONE = replace(SMOKE_NOT_RUN, cell="L4")
_LOST_AT = NOW.replace(hour=3, minute=41)
_BEGUN = SmokeIntent("9000", "1", SMOKE_NONE.sha, _LOST_AT, _LOST_AT + timedelta(hours=2), ("L4",))
(SMOKE_LOST,) = lost_runs(_BEGUN)
SMOKE_NIGHTS = (
    _night(7, SMOKE_PASSED),
    _night(6, SMOKE_RED, 3, "6b" * 20),
    _night(5, SMOKE_PASSED, 4, "6b" * 20),
    _night(4, SMOKE_NONE),
    _night(3, SMOKE_PASSED, 5),
    _night(2, SMOKE_RED, 3),
)


def _denied_label(word: LabelWord) -> str:
    denied = check_label(word, SMOKE_NONE.sha)
    assert isinstance(denied, Deny)
    return comments.denied(reason=denied, command_line="label gpu-smoke by ada", record=None, now=NOW)


def _smoke_issue(past: Sequence[SmokeRun], *runs: SmokeRun, branch: str = "main", is_news: bool = False) -> str:
    history = SmokeHistory((*past, *runs))
    standing = stand(history, [run.cell for run in runs])
    run_url = "https://github.com/acme/qwen-sft/actions/runs/9001"
    case = SmokeIssueCase("https://github.com", "acme/qwen-sft", branch, standing, history, runs, (), NOW, run_url)
    return comments.smoke_issue_news(case) if is_news else comments.smoke_issue(case)


def _output(command: str, text: str, record: EnvironmentRecord = READY, **said: object) -> str:
    found = Output(text, len(text), took=timedelta(seconds=7), **said)  # type: ignore[arg-type]  # keyword bag
    return comments.output(record=record, command=command, text=text, found=found, now=NOW, reply_to=REPLY)


_NEW_ON_MACHINE = (
    Change("hardware.gpu_type", "RTX4090", "A100-80GB"),
    Change("dependencies.requirements", "peft", ""),
    Change("dependencies.requirements", "", "wandb==0.17.0"),
    Change("dependencies.system_packages", "", "tmux"),
)


def _snapshot(
    *,
    changes: tuple[Change, ...] = _NEW_ON_MACHINE,
    left_out: tuple[str, ...] = (
        "`mine` 1.0: it is installed from a folder that can be edited, which comes with the code.",
    ),
    text: str = "hardware:\n  gpu_type: A100-80GB\ndependencies:\n  requirements:\n  - wandb==0.17.0\n",
    has_file: bool = True,
    notice: str = "The review has it as a suggestion at `.gpu-lol.yaml:4`.",
    record: EnvironmentRecord = READY,
) -> str:
    taken = Snapshot(EnvironmentSpec(), changes, left_out)
    return comments.snapshot(SnapshotCase(record, taken, text, has_file, notice, NOW, REPLY))


def _projects(text: str = "") -> ProjectsCase:
    none = CPU, NO_NEED
    return project_cases.projects((analysis(1024), SMALL_LADDER), (analysis(), LADDER), none, text)


def _one_project(place: int) -> ProjectsCase:
    """Only one of the others, of a repository whose policy names none."""
    return ProjectsCase(others=(_projects().others[place],))


_SAME: dict[str, object] = {"base_analysis": analysis(), "base_ladder": LADDER}
_CPU: dict[str, object] = {"analysis": CPU, "base_analysis": CPU, "ladder": NO_NEED, "base_ladder": NO_NEED}
_CHANGES: Mapping[str, Callable[[], str]] = {
    "proposal_what_ifs": lambda: _proposal(
        change=change_cases.two_causes(analysis(1024), analysis()),
        what_ifs=change_cases.what_ifs(candidate(A40)),
        spot=candidate(replace(A100, cloud="aws", price_usd_per_hour=Decimal("0.97"))),
    ),
    "proposal_same_machine": lambda: _proposal(**_SAME, change=change_of(analysis(1024), analysis())),
    "proposal_other_run": lambda: _proposal(**_SAME, change=change_cases.other_runs(candidate(A40), candidate(A100))),
    "proposal_other_new": lambda: _proposal(**_SAME, change=change_cases.new_run(candidate(A40))),
    "proposal_environment": lambda: _proposal(**_SAME, change=change_cases.environment()),
    "proposal_by_hand": lambda: _proposal(
        analysis=_BY_HAND, base_analysis=analysis(1024), change=change_cases.by_hand()
    ),
    "proposal_no_comparison": lambda: _proposal(**_NO_BASE, base_problem="`.gpu-lol.yaml` of the base is invalid."),
    "proposal_projects": lambda: _proposal(projects=_projects(), smoke=_SMOKE_COST),
    "proposal_project_dearer": lambda: _proposal(**_SAME, projects=_one_project(0)),
    "proposal_project_wrong": lambda: _proposal(**_SAME, projects=_projects()),
    "proposal_project_cheaper": lambda: _proposal(**_SAME, projects=_one_project(1)),
    "proposal_project_new": lambda: _proposal(**_CPU, projects=_one_project(2)),
    "proposal_projects_apart": lambda: _proposal(projects=ProjectsCase(apart=tuple("abcd"))),
    "proposal_projects_hostile": lambda: _proposal(projects=_projects(HOSTILE)),
    "proposal_change_hostile": lambda: _proposal(
        change=replace(
            change_cases.other_runs(candidate(A40), candidate(A100), HOSTILE),
            change=replace(
                change_cases.other_runs(candidate(A40), candidate(A100), HOSTILE).change,
                file_causes=change_cases.by_hand(HOSTILE).change.file_causes,
                parts=change_cases.environment(HOSTILE).change.parts,
            ),
        ),
        what_ifs=change_cases.what_ifs(candidate(A40), HOSTILE),
        base_problem=HOSTILE,
    ),
}
CASES: Mapping[str, Callable[[], str]] = {
    "proposal_corrected": lambda: _proposal(
        analysis=_corrected(_NOTE), note=_NOTE, spec_notice=_COMMITTED, run="19283746501.1"
    ),
    "proposal_corrected_hostile": lambda: _proposal(
        note=ProposalNote(Corrections(image=HOSTILE, gpu=HOSTILE), {"image": HOSTILE}, HOSTILE), spec_notice=HOSTILE
    ),
    "superseded": lambda: comments.superseded(
        pull_request=128, url="https://github.com/acme/qwen-sft/pull/128#issuecomment-2211"
    ),
    "proposal_dearer": _proposal,
    "proposal_smoke": lambda: _proposal(smoke=replace(_SMOKE_COST, schedule=None)),
    "proposal_smoke_month": lambda: _proposal(smoke=_SMOKE_COST),
    "proposal_smoke_unreadable": lambda: _proposal(smoke=replace(_SMOKE_COST, schedule=read_schedule("@daily", NOW))),
    "proposal_smoke_unpriced": lambda: _proposal(**_NO_BASE, smoke=replace(_SMOKE_COST, run_usd=None, machines=2)),
    "proposal_smoke_hostile": lambda: _proposal(smoke=replace(_SMOKE_COST, schedule=read_schedule(HOSTILE, NOW))),
    "proposal_cheaper": lambda: _proposal(
        analysis=analysis(1024), ladder=SMALL_LADDER, base_analysis=analysis(), base_ladder=LADDER
    ),
    "proposal_same": lambda: _proposal(base_analysis=analysis(), base_ladder=LADDER),
    **_CHANGES,
    "proposal_first": lambda: _proposal(**_NO_BASE),
    "proposal_installing": lambda: _proposal(**_NO_BASE, is_installing=True),
    "proposal_level_one": lambda: _proposal(**_NO_BASE, is_level_one=True),
    "proposal_running": lambda: _proposal(environment=READY),
    "proposal_cpu_only": lambda: _proposal(**_NO_BASE, analysis=CPU, ladder=NO_NEED),
    "proposal_cpu_only_now": lambda: _proposal(analysis=CPU, ladder=NO_NEED),
    "proposal_gpu_now": lambda: _proposal(base_analysis=CPU, base_ladder=NO_NEED),
    "proposal_fits_now": lambda: _proposal(base_ladder=NO_FIT),
    "proposal_no_fit": lambda: _proposal(ladder=NO_FIT),
    "proposal_from_file": lambda: _proposal(analysis=_FROM_FILE),
    "proposal_unrecognized": lambda: _proposal(
        **_NO_BASE, analysis=replace(analysis(), breakdown=None, spec=spec("RTX4090", None))
    ),
    "proposal_not_as_written": lambda: _proposal(
        **_NO_BASE,
        analysis=replace(
            analysis(),
            not_understood=(
                *analysis().not_understood,
                "`per_device_train_batch_size` is 512 (`train.py:5`), and a batch of 128 is assumed against what was read: no card holds the run otherwise",
            ),
        ),
    ),
    "proposal_documented": lambda: _proposal(
        **_NO_BASE,
        analysis=replace(
            analysis(),
            breakdown=None,
            findings=(
                *analysis().findings,
                Finding(
                    "hardware.vram_required_gb",
                    "40",
                    f"{STATED.why}, and no model of a known size was recognized",
                    Confidence.LOW,
                    STATED.evidence,
                ),
            ),
            not_understood=("no model of a known size was recognized; the documentation's 40 GB was taken",),
        ),
    ),
    "proposal_hostile": lambda: _proposal(
        pull_request=replace(PULL_REQUEST, title=HOSTILE, head_ref=HOSTILE, head_repository=HOSTILE, head_sha=HOSTILE),
        analysis=_hostile_analysis(),
        ladder=_HOSTILE_LADDER,
        base_sha=HOSTILE,
        base_analysis=analysis(),
        spec_yaml=HOSTILE,
    ),
    "proposal_override": lambda: _proposal(**_NO_BASE, analysis=_overridden(_CLAIM)),
    "proposal_override_hostile": lambda: _proposal(
        **_NO_BASE, analysis=_overridden(Override(HOSTILE, HOSTILE, ((HOSTILE, HOSTILE, HOSTILE),)))
    ),
    "analysis_report": lambda: comments.analysis_report(
        comments.analysis_case(
            analysis=analysis(), ladder=LADDER, policy=POLICY, spec_yaml=SPEC_YAML, sha=PULL_REQUEST.head_sha, now=NOW
        )
    ),
    "launching": _launching,
    "launching_unswept": lambda: _launching(is_swept=False),
    "launching_waiting": lambda: _launching(record=_waiting(), phase="waiting", detail_lines=()),
    "launching_claimed": lambda: _launching(record=CLAIMED, phase="claimed", detail_lines=()),
    "launching_hostile": lambda: _launching(
        record=_hostile_record(LAUNCHING), phase=HOSTILE, detail_lines=(HOSTILE, HOSTILE)
    ),
    "ready": _ready,
    "ready_noticed": lambda: _ready(notice=_USED),
    "ready_rehearsal": lambda: _ready(STAND_IN),
    "ready_hostile": lambda: _ready(_hostile_record(READY), HOSTILE, HOSTILE),
    "already_running_hostile": lambda: comments.already_running(record=_hostile_record(READY), now=NOW),
    "already_running": lambda: comments.already_running(record=READY, now=NOW, reply_to=REPLY),
    "already_running_launching": lambda: comments.already_running(record=LAUNCHING, now=NOW, reply_to=REPLY),
    "status": lambda: comments.status(
        entries=(READY, replace(LAUNCHING, name="gl-ahreaa-131", pull_request=131), CLOSED),
        unreadable=(),
        now=NOW,
        gpu_use={"gl-ahreaa-128": "87 %, 38.7 GiB"},
        reply_to=REPLY,
    ),
    "status_one": lambda: comments.status(entries=(READY,), unreadable=(), now=NOW, reply_to=REPLY),
    "status_none": lambda: comments.status(entries=(CLOSED,), unreadable=(), now=NOW, reply_to=REPLY),
    "status_unreadable": lambda: comments.status(
        entries=(READY,), unreadable=("`gl-ahreaa-9`: no JSON",), now=NOW, reply_to=REPLY
    ),
    "status_hostile": lambda: comments.status(
        entries=(_hostile_record(READY), _hostile_record(LAUNCHING)),
        unreadable=(HOSTILE,),
        now=NOW,
        gpu_use={HOSTILE: HOSTILE},
    ),
    "dry_run_hostile": lambda: _dry_run(_HOSTILE_LADDER, (HOSTILE,)),
    "spec_error": lambda: comments.spec_error(
        error=SpecError(
            "spec_invalid",
            "there is no key `hardwear`",
            path=".gpu-lol.yaml",
            line=3,
            why="Did you mean `hardware`?",
            fix="Rename the key.",
        ),
        pull_request=PULL_REQUEST,
        now=NOW,
    ),
    "spec_error_hostile": lambda: comments.spec_error(
        error=SpecError("spec_invalid", HOSTILE, path=HOSTILE, line=3, why=HOSTILE, fix=HOSTILE),
        pull_request=PULL_REQUEST,
        now=NOW,
    ),
    "ending_unknown": lambda: comments.ending(
        record=replace(ENDING, state=State.UNKNOWN), now=NOW + timedelta(seconds=20)
    ),
    "ending_gone": lambda: comments.ending(record=CLOSED, now=NOW + timedelta(seconds=20)),
    "ending": lambda: comments.ending(record=ENDING, now=NOW + timedelta(seconds=20)),
    "ending_hostile": lambda: comments.ending(record=_hostile_record(ENDING), now=NOW),
    "unproven": lambda: comments.unproven(
        record=replace(ENDING, state=State.UNKNOWN, absences=()), now=NOW, why="RunPod did not answer in 5 minutes."
    ),
    "unproven_hostile": lambda: comments.unproven(record=_hostile_record(ENDING), now=NOW, why=HOSTILE),
    "torn_down": lambda: _torn_down(CLOSED),
    "torn_down_noticed": lambda: _torn_down(CLOSED, _USED),
    "torn_down_failed": lambda: _torn_down(FAILED),
    "torn_down_rehearsal": lambda: _torn_down(
        replace(CLOSED, is_rehearsal=True, tombstone=Tombstone("maintainer", "pull_request_closed", NOW))
    ),
    "torn_down_before_asking": lambda: _torn_down(
        replace(CLAIMED, state=State.CLOSED, tombstone=Tombstone("requester", "down", NOW))
    ),
    "torn_down_saved": lambda: _torn_down(replace(CLOSED, rescue=SAVED)),
    "torn_down_saved_without_key": lambda: _torn_down(replace(CLOSED, rescue=replace(SAVED, recipients=0, left_out=2))),
    "torn_down_not_saved": lambda: _torn_down(
        replace(CLOSED, rescue=Rescue(NOW, 3, problem="the machine did not finish packing it"))
    ),
    "torn_down_hostile": lambda: _torn_down(
        replace(_hostile_record(FAILED), rescue=replace(SAVED, command=HOSTILE, problem=HOSTILE))
    ),
    "extended": lambda: _extended(READY),
    "extended_hostile": lambda: _extended(_hostile_record(READY)),
    "warning_lease": lambda: _warning("lease", Look(timedelta(0), 3, 1, 2)),
    "ready_sealed": lambda: _ready(record=replace(READY, is_ssh_sealed=True), sealed=SEALED),
    "shared_sealed": lambda: comments.shared(
        record=replace(READY, is_ssh_sealed=True),
        login="grace",
        keys=1,
        refused=(),
        now=NOW,
        reply_to=REPLY,
        sealed=SEALED,
    ),
    "warning_lease_nothing": lambda: _warning("lease", Look(timedelta(0), 0, 0, 0)),
    "warning_lease_keep": lambda: _warning(
        "lease", Look(timedelta(0), 0, 0, 0, kept=2), replace(READY, keep=("checkpoints/*/*.pt", "logs"))
    ),
    "warning_lease_unknown": lambda: _warning("lease", None),
    "warning_idle": lambda: _warning("idle", Look(timedelta(minutes=64), 0, 1, 0)),
    "warning_hostile": lambda: _warning("lease", None, _hostile_record(READY)),
    "no_capacity": lambda: comments.no_capacity(
        record=replace(LAUNCHING, state=State.FAILED, attempts=LAUNCHING.attempts[:1] * 4), policy=POLICY, now=NOW
    ),
    "no_capacity_waited": lambda: comments.no_capacity(
        record=replace(_waiting(), state=State.FAILED), policy=POLICY, now=NOW + timedelta(minutes=50)
    ),
    "no_capacity_and_account": lambda: _no_capacity("no_capacity", "quota"),
    "no_capacity_timed_out": lambda: _no_capacity("timed_out", "timed_out"),
    "no_capacity_failed": lambda: _no_capacity("timed_out", "failed"),
    "no_capacity_hostile": lambda: comments.no_capacity(
        record=replace(_hostile_record(FAILED), use_spot=True), policy=POLICY, now=NOW
    ),
    "denied": lambda: comments.denied(
        reason=_DENY, command_line="/gpu-lol up --gpu H100:8 --hours 4", record=None, now=NOW, reply_to=REPLY
    ),
    "denied_label_push": lambda: _denied_label(LabelWord(NOW, NOW - timedelta(minutes=2, seconds=13))),
    "denied_label_unknown": lambda: _denied_label(LabelWord(NOW)),
    "denied_hostile": lambda: comments.denied(
        reason=Deny("permission_denied", HOSTILE, HOSTILE, HOSTILE),
        command_line=HOSTILE,
        record=_hostile_record(READY),
        now=NOW,
    ),
    "failed": lambda: comments.failed(
        explanation=_BAD_SETUP,
        reason_code="setup_failed",
        log_tail=_LOG,
        record=FAILED,
        run_url="https://github.com/acme/qwen-sft/actions/runs/9001",
        now=NOW,
    ),
    "failed_hostile": lambda: comments.failed(
        explanation=Explanation(HOSTILE, HOSTILE, HOSTILE),
        reason_code="setup_failed",
        log_tail=HOSTILE,
        record=_hostile_record(READY),
        run_url=HOSTILE,
        now=NOW,
    ),
    "problem": lambda: comments.problem(
        problem=ParseProblem(
            "/gpu-lol up --gpu A100-90GB", "There is no accelerator `A100-90GB`", ("A100-80GB", "A100"), "up"
        ),
        now=NOW,
        reply_to=REPLY,
    ),
    "problem_hostile": lambda: comments.problem(
        problem=ParseProblem(HOSTILE, HOSTILE, (HOSTILE, HOSTILE), HOSTILE), now=NOW, reply_to=REPLY
    ),
    "help": lambda: comments.help(topic=None, open_records=(), now=NOW, reply_to=REPLY),
    "help_up": lambda: comments.help(topic="up", open_records=(READY,), now=NOW, reply_to=REPLY),
    "help_terminal": lambda: comments.help(topic=None, open_records=(), now=NOW, door=DoorKind.TERMINAL),
    "help_hostile": lambda: comments.help(topic=HOSTILE, open_records=(), now=NOW, reply_to=REPLY),
    "nothing_to_tear_down": lambda: comments.nothing_to_tear_down(now=NOW, pull_request=128, reply_to=REPLY),
    "dry_run": lambda: _dry_run(ladder=LADDER),
    "dry_run_refused": lambda: _dry_run(
        refusals=("this would pass the month's budget: $2.78 on top of $49.20 of $50",)
    ),
    "awaiting": lambda: awaiting_text(LADDER.candidates[0], NOW, REPLY),
    "awaiting_hostile": lambda: awaiting_text(LADDER.candidates[0], NOW, REPLY, HOSTILE),
    "dry_run_no_fit": lambda: _dry_run(ladder=NO_FIT),
    "smoke_passed": lambda: _smoke(SMOKE_PASSED),
    "smoke_failed": lambda: _smoke(SMOKE_PASSED, SMOKE_FAILED, SMOKE_NOT_RUN),
    "smoke_projects": lambda: _smoke(
        replace(SMOKE_PASSED, cell="research/llm"),
        *(replace(run, cell=f"research/vision, {run.cell}") for run in (SMOKE_FAILED, SMOKE_NOT_RUN)),
        projects=("research/llm", "research/vision"),
    ),
    "smoke_history": lambda: _smoke(SMOKE_RED, past=SMOKE_NIGHTS),
    "smoke_history_flaky": lambda: _smoke(
        SMOKE_PASSED, SMOKE_NOT_RUN, past=[*SMOKE_NIGHTS, replace(SMOKE_RED, at=NOW - timedelta(days=1))]
    ),
    "smoke_history_hostile": lambda: _smoke(
        _hostile_smoke(), ref=HOSTILE, past=[replace(_hostile_smoke(), tests=None, reason_code=HOSTILE, sha=HOSTILE)]
    ),
    "smoke_issue": lambda: _smoke_issue(SMOKE_NIGHTS, SMOKE_RED),
    "smoke_issue_matrix": lambda: _smoke_issue(SMOKE_NIGHTS, SMOKE_PASSED, SMOKE_FAILED, SMOKE_NOT_RUN),
    "smoke_issue_not_run": lambda: _smoke_issue(
        [*SMOKE_NIGHTS[:-1], _night(2, SMOKE_NONE), _night(1, SMOKE_NONE)],
        replace(SMOKE_NONE, remedy="Allow another card under `clouds` in `.github/gpu-lol.yml`."),
    ),
    "smoke_issue_lost": lambda: _smoke_issue(
        [*SMOKE_NIGHTS[:-1], _night(2, SMOKE_LOST), _night(1, SMOKE_LOST)], SMOKE_LOST
    ),
    "smoke_issue_over": lambda: _smoke_issue(SMOKE_NIGHTS, SMOKE_PASSED),
    "smoke_issue_hostile": lambda: _smoke_issue((), _hostile_smoke(), branch=HOSTILE),
    "smoke_issue_not_run_hostile": lambda: _smoke_issue(
        [replace(_hostile_smoke(), result=SmokeResult.NOT_RUN, at=NOW - timedelta(days=n)) for n in (3, 2, 1)],
        replace(_hostile_smoke(), result=SmokeResult.NOT_RUN),
        branch=HOSTILE,
    ),
    "smoke_issue_news": lambda: _smoke_issue(SMOKE_NIGHTS, SMOKE_RED, is_news=True),
    "smoke_issue_news_over": lambda: _smoke_issue(SMOKE_NIGHTS, SMOKE_PASSED, is_news=True),
    "smoke_issue_news_flaky": lambda: _smoke_issue(
        SMOKE_NIGHTS, replace(SMOKE_PASSED, sha=SMOKE_NIGHTS[-1].sha), is_news=True
    ),
    "smoke_issue_news_hostile": lambda: _smoke_issue((), _hostile_smoke(), branch=HOSTILE, is_news=True),
    "smoke_dry_run": lambda: _smoke(replace(SMOKE_NOT_RUN, reason_code="dry_run", why=""), is_dry_run=True),
    "smoke_hostile": lambda: _smoke(SMOKE_PASSED, _hostile_smoke(), ref=HOSTILE, projects=(HOSTILE,)),
    "sweep_summary": lambda: comments.sweep_summary(
        lines=(("gl-ahreaa-128", "ended", "lease_over"), ("gl-ahreaa-131", "left alone", "lease until 16:05 UTC")),
        open_records=(),
        now=NOW,
    ),
    "sweep_summary_empty": lambda: comments.sweep_summary(lines=(), open_records=(), now=NOW, is_dry_run=True),
    "sweep_summary_trouble": lambda: comments.sweep_summary(
        lines=(
            ("gl-ahreaa-128", "could not be proven gone", "still listed after 5 minutes"),
            ("lambda", "nothing concluded", "Lambda did not answer"),
            ("gl-ahreaa-9", "held: its record cannot be read", "no JSON"),
        ),
        open_records=(ENDING,),
        now=NOW,
    ),
    "sweep_summary_hostile": lambda: comments.sweep_summary(
        lines=((HOSTILE, HOSTILE, HOSTILE),), open_records=(_hostile_record(READY),), now=NOW
    ),
    "shared": lambda: comments.shared(
        record=replace(READY, shared=("grace",)),
        login="grace",
        keys=2,
        refused=("it is an RSA key of 1024 bits, under 2048",),
        now=NOW,
        reply_to=REPLY,
    ),
    "shared_hostile": lambda: comments.shared(
        record=_hostile_record(READY), login=HOSTILE, keys=1, refused=(HOSTILE,), now=NOW
    ),
    "unshared": lambda: comments.unshared(
        record=replace(READY, shared=("linus",)), login="grace", now=NOW, reply_to=REPLY
    ),
    "unshared_hostile": lambda: comments.unshared(
        record=replace(_hostile_record(READY), shared=(HOSTILE,)), login=HOSTILE, now=NOW
    ),
    "validated": lambda: comments.validated(record=READY, checks=CHECKS, before=CHECKS, now=NOW, reply_to=REPLY),
    "validated_worse": lambda: comments.validated(
        record=READY,
        checks=(CHECKS[0], replace(CHECKS[1], status=CheckStatus.FAILED, fix="rent another card"), *CHECKS[2:]),
        before=CHECKS,
        now=NOW,
        reply_to=REPLY,
    ),
    "validated_hostile": lambda: comments.validated(
        record=_hostile_record(READY),
        checks=_hostile_record(READY).checks,
        before=(Check(HOSTILE, CheckStatus.PASSED, HOSTILE),),
        now=NOW,
    ),
    "snapshot": _snapshot,
    "snapshot_new_file": lambda: _snapshot(has_file=False, changes=(), left_out=(), notice=""),
    "snapshot_nothing_new": lambda: _snapshot(changes=(), left_out=(), notice=""),
    "snapshot_many": lambda: _snapshot(
        changes=tuple(Change("dependencies.requirements", "", f"package-{number}==1.0") for number in range(40)),
    ),
    "snapshot_hostile": lambda: _snapshot(
        changes=(Change(HOSTILE, HOSTILE, HOSTILE), Change(HOSTILE, "", HOSTILE)),
        left_out=(HOSTILE,),
        notice=HOSTILE,
        text=HOSTILE,
        record=_hostile_record(READY),
    ),
    "synced": lambda: comments.synced(record=READY, before="c" * 40, now=NOW, reply_to=REPLY),
    "synced_already": lambda: comments.synced(record=READY, before=READY.sha, now=NOW, reply_to=REPLY),
    "synced_hostile": lambda: comments.synced(record=_hostile_record(READY), before=HOSTILE[::-1], now=NOW),
    "output": lambda: _output("nvidia-smi -L", "GPU 0: NVIDIA A100-SXM4-80GB (UUID: GPU-3f1c)\n", exit_code=0),
    "output_failed": lambda: _output("python train.py", "".join(f"step {n}\n" for n in range(999)), exit_code=1),
    "output_stopped": lambda: _output("sleep 999", "", exit_code=124, is_timed_out=True),
    "output_log": lambda: _output("setup", "== requirements\nCollecting peft\n", age=timedelta(minutes=9)),
    "output_hostile": lambda: _output(
        HOSTILE, f"{HOSTILE}\n::error::x\n10%\r99%\n", exit_code=1, record=_hostile_record(READY)
    ),
    "budget": lambda: budget_text(NOW, REPLY),
    "budget_over": lambda: budget_text(NOW, REPLY, limit="12"),
    "budget_empty": lambda: budget_text(NOW, REPLY, is_empty=True),
    "budget_hostile": lambda: budget_text(NOW, None, HOSTILE),
    **OFFERS_CASES,
    "estimate": lambda: _estimate(("model", "Qwen/Qwen2.5-7B"), ("method", "qlora"), ("seq_len", "4096")),
    "estimate_divided": lambda: _estimate(("params_B", "13"), ("method", "full_ft"), ("grad_ckpt", "1")),
    "estimate_no_fit": lambda: _estimate(("params_B", "9000"), ("n_gpus", "2")),
    "estimate_hostile": lambda: _estimate(("model", HOSTILE), ("params_B", "7"), ("optimizer", HOSTILE)),
    "internal_error": lambda: comments.internal_error(
        run_url="https://github.com/acme/qwen-sft/actions/runs/9001", record=READY, now=NOW, reply_to=REPLY
    ),
}
