"""The commands about code: what it needs, and corrections of that."""

from __future__ import annotations

from dataclasses import replace

from gpu_lol_action.domain.command_spec import CommandSpec, DoorKind, Option, OptionKind, Permission

TERMINAL = DoorKind.TERMINAL

PROJECT = Option("--project", OptionKind.PROJECT, "the project in this folder of the repository", "FOLDER")

_CELL = OptionKind.CELL
ESTIMATE_OPTIONS = (
    Option("--model", _CELL, "a model's id or name", "ID", column="model"),
    Option("--params-b", _CELL, "parameters in billions", "7", column="params_B"),
    Option("--hidden", _CELL, "hidden size", "4096", column="hidden"),
    Option("--layers", _CELL, "number of layers", "32", column="layers"),
    Option("--heads", _CELL, "attention heads", "32", column="heads"),
    Option("--kv-heads", _CELL, "key-value heads", "8", column="kv_heads"),
    Option("--ffn", _CELL, "inner width of the feed-forward layers", "11008", column="ffn"),
    Option("--vocab", _CELL, "size of the vocabulary", "32000", column="vocab"),
    Option("--method", _CELL, "what is done", "inference|full_ft|lora|qlora|pretrain", column="method"),
    Option("--precision", _CELL, "fp32, bf16, bf16-mixed, int8, nf4, gptq, q4_k, ...", "bf16", column="precision"),
    Option("--optimizer", _CELL, "adamw, adamw_8bit, paged_adamw, adafactor, lion, ...", "adamw", column="optimizer"),
    Option("--seq-len", _CELL, "tokens per sample", "2048", column="seq_len"),
    Option("--batch", _CELL, "samples per card at a time", "1", column="batch"),
    Option("--grad-ckpt", OptionKind.SWITCH, "recompute activations in the backward pass", column="grad_ckpt"),
    Option(
        "--zero-stage",
        _CELL,
        "what is divided: ZeRO's stage, fsdp, tp or pp",
        "0|1|2|3|fsdp|tp|pp",
        column="zero_stage",
    ),
    Option("--gpus", _CELL, "number of cards", "1", column="n_gpus"),
    Option("--tensor-parallel", _CELL, "cards that share each layer", "2", column="tensor_parallel"),
    Option("--offload", _CELL, "what lies in main memory", "optimizer|parameters|activations", column="offload"),
    Option("--lora-rank", _CELL, "rank of the adapters", "16", column="lora_rank"),
    Option("--attention", _CELL, "eager keeps the matrix of all pairs", "fused|eager", column="attention"),
    Option("--format", OptionKind.FORMAT, "how the answer is printed", "text|json|markdown", TERMINAL),
    Option("--csv", OptionKind.TABLE, "estimate each row of this table instead", "FILE", TERMINAL),
)

CODE_COMMANDS: tuple[CommandSpec, ...] = (
    CommandSpec(
        "analyze",
        "Read the code and propose the machine that it needs",
        Permission.COMMAND_ROLES,
        positional="path",
        positional_door=DoorKind.TERMINAL,
        options=(
            Option("--format", OptionKind.FORMAT, "how the proposal is printed", "text|json|yaml|markdown", TERMINAL),
            Option("--base", OptionKind.REF, "compare with this commit or branch", "REF", TERMINAL),
            replace(PROJECT, door=TERMINAL),
            Option("--hours", OptionKind.DURATION, "how long a session is, for what it would cost", "2h", TERMINAL),
            Option(
                "--verbose",
                OptionKind.SWITCH,
                "show every finding, every offer, every cheaper configuration",
                door=TERMINAL,
            ),
            Option("--hub", OptionKind.SWITCH, "look models up on the Hugging Face Hub", door=TERMINAL),
            Option("--llm", OptionKind.SWITCH, "ask the language model of GPU_LOL_LLM_URL too", door=TERMINAL),
        ),
        examples=("analyze",),
    ),
    CommandSpec(
        "set",
        "Correct the proposal of this pull request; it is remembered, `auto` takes it back",
        Permission.COMMAND_ROLES,
        doors=DoorKind.COMMENT,
        settings=(
            Option("vram", OptionKind.MEMORY, "memory per GPU in GB, as cards are sold", "48"),
            Option("gpu", OptionKind.ACCELERATOR, "this accelerator, with `:2` two of them", "A100-80GB"),
            Option("count", OptionKind.COUNT, "GPUs per machine, 0 for none", "2"),
            Option("image", OptionKind.IMAGE, "this container image", "IMAGE"),
            Option("project", OptionKind.PROJECT, "the project in this folder is meant", "FOLDER"),
        ),
        examples=("set vram=48", "set gpu=A100-80GB:2", "set vram=auto", "set project=research/llm"),
    ),
    CommandSpec(
        "mute",
        "Leave the proposal of this pull request as it is, until `unmute`",
        Permission.COMMAND_ROLES,
        doors=DoorKind.COMMENT,
        examples=("mute",),
    ),
    CommandSpec(
        "unmute",
        "Keep the proposal of this pull request up to date again",
        Permission.COMMAND_ROLES,
        doors=DoorKind.COMMENT,
        examples=("unmute",),
    ),
    CommandSpec(
        "estimate",
        "Say how much GPU memory a run needs, and which cards have it",
        Permission.COMMAND_ROLES,
        options=ESTIMATE_OPTIONS,
        examples=(
            "estimate --model Qwen/Qwen2.5-7B --method qlora --seq-len 2048",
            "estimate --params-b 7 --method full_ft --gpus 8 --zero-stage 3",
        ),
    ),
    CommandSpec(
        "offers",
        "List what can be rented, cheapest first: for this code, a card, a size of memory, or all cards",
        Permission.COMMAND_ROLES,
        positional="requirements",
        options=(
            Option("--availability", OptionKind.SWITCH, "ask the clouds that can say it what they have at this moment"),
            Option("--hours", OptionKind.DURATION, "what so long a lease would cost", "2h"),
            Option("--spot", OptionKind.SWITCH, "interruptible machines"),
            Option("--cloud", OptionKind.CLOUD, "only this cloud", "runpod"),
            Option("--region", OptionKind.REGION, "only this region", "US"),
            PROJECT,
            Option("--format", OptionKind.FORMAT, "how they are printed", "text|json|markdown", TERMINAL),
            Option("--verbose", OptionKind.SWITCH, "all of them, and why others do not fit", door=TERMINAL),
        ),
        examples=("offers", "offers A100-80GB:2", "offers 24GB --availability", "offers all"),
    ),
)
