"""Scripts that are read into others with ``source``, and commands that ``eval`` puts together."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.command_lines.shell_branches import with_taken_branches
from gpu_lol_action.analysis.command_lines.shell_words import sourced
from gpu_lol_action.analysis.commands.launch_commands import launch_commands
from gpu_lol_action.analysis.commands.sourced_scripts import MAX_TEXT
from gpu_lol_action.analysis.runs.runs import primary_run
from tests.unit.analysis.conftest import Build

PROGRAM = "import torch\nloss.backward()\noptimizer.step()\n"
ARGS = 'export header="torchrun --nproc_per_node 2 train.py"\nexport args="--lr 1e-4 \\\n--batch_size ${BATCH:-8}"\n'


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("source scripts/args.sh", ("scripts/args.sh", [])),
        (". ./env.sh  # what all share", ("./env.sh", [])),
        ('source "$(dirname "$0")/args.sh" 7b', ('"$(dirname "$0")/args.sh', ["7b"])),
        ("source venv/bin/activate", ("venv/bin/activate", [])),
        ("source_data=a.sh", None),
        ("./env.sh", None),  # started, in a shell of its own
        ("bash env.sh", None),
    ],
)
def test_a_line_that_reads_a_script_names_it(line: str, expected: tuple[str, list[str]] | None) -> None:
    assert sourced(line) == expected


@pytest.mark.parametrize(
    "line",
    [
        'eval "$header" "$args"',
        "eval $header $args",
        "$header $args",
        'cmd="$header $args"\neval "$cmd" 2>&1 | tee log.txt',
        'cmd="mkdir -p out && $header $args | tee log.txt"\neval "$cmd"',
        'if true; then eval "$header $args" ; fi',
    ],
)
def test_the_words_of_eval_are_joined_and_split_anew(checkout: Build, line: str) -> None:
    command = primary_run(checkout({"train.py": PROGRAM, "run.sh": f"{ARGS}{line}\n"})).command
    assert command is not None
    assert (command.target, command.processes) == ("train.py", 2)
    assert (command.options["lr"], command.options["batch_size"]) == ("1e-4", "8")


def test_eval_of_what_another_program_says_starts_nothing(checkout: Build) -> None:
    tree = checkout({"train.py": PROGRAM, "run.sh": 'eval "$(conda shell.bash hook)"\neval "$(cat train.py)"\n'})
    assert launch_commands(tree) == ()


@pytest.mark.parametrize(
    ("script", "reads"),
    [
        ("scripts/run.sh", "source scripts/args.sh"),
        ("scripts/run.sh", ". ./args.sh"),
        ("scripts/run.sh", 'source "$(dirname "$0")/args.sh"'),
        ("scripts/run.sh", 'HERE=$(dirname "${BASH_SOURCE[0]}")\nsource "${HERE}/args.sh"'),
        ("scripts/run.sh", "[ -f scripts/args.sh ] && . scripts/args.sh"),
        ("scripts/deep/run.sh", "source ../args.sh"),
        ("scripts/deep/run.sh", "source more.sh"),
    ],
)
def test_what_a_script_sets_is_there_in_the_one_that_reads_it(checkout: Build, script: str, reads: str) -> None:
    tree = checkout(
        {
            "train.py": PROGRAM,
            "scripts/args.sh": ARGS,
            "scripts/deep/more.sh": "source ../args.sh\n",
            script: f'{reads}\neval "$header" "$args"\n',
        }
    )
    command = primary_run(tree).command
    assert command is not None
    assert (command.evidence.path, command.processes, command.options["batch_size"]) == (script, 2, "8")


@pytest.mark.parametrize(
    "reads",
    [
        "bash scripts/args.sh",  # a shell of its own: nothing comes back from it
        "echo source scripts/args.sh",
        "source other/args.sh",
        "# source scripts/args.sh",
    ],
)
def test_what_another_shell_sets_stays_there(checkout: Build, reads: str) -> None:
    tree = checkout({"train.py": PROGRAM, "scripts/args.sh": ARGS, "run.sh": f'{reads}\neval "$header" "$args"\n'})
    assert launch_commands(tree) == ()


@pytest.mark.parametrize(
    ("before", "after", "batch"),
    [
        ("", "", "8"),
        ("BATCH=4", "", "4"),  # a fallback of the script that is read stands behind what is set before
        ("", "BATCH=4", "8"),
        ("BATCH=$1", "", "3"),
    ],
)
def test_its_fallbacks_see_what_is_set_before(checkout: Build, before: str, after: str, batch: str) -> None:
    run = f"{before}\nsource args.sh\n{after}\n$header $args\n"
    tree = checkout({"train.py": PROGRAM, "args.sh": ARGS, "run.sh": run, "README.md": "```\nbash run.sh 3\n```\n"})
    command = primary_run(tree).command
    assert command is not None
    assert command.options["batch_size"] == batch


def test_its_branches_see_what_it_is_handed(checkout: Build) -> None:
    sizes = 'if [ "$1" = "7b" ]; then\n  MODEL=a/net-7b\nelse\n  MODEL=a/net-13b\nfi\n'
    run = "source sizes.sh 7b\npython train.py --model $MODEL --tag $1\n"
    readme = "```\nbash run.sh mine\n```\n"
    command = primary_run(
        checkout({"train.py": PROGRAM, "sizes.sh": sizes, "run.sh": run, "README.md": readme})
    ).command
    assert command is not None
    assert (command.options["model"], command.options["tag"]) == ("a/net-7b", "mine")


def test_scripts_that_read_each_other_and_large_ones_end(checkout: Build) -> None:
    files = {"train.py": PROGRAM, "a.sh": "source b.sh\nA=1\n", "b.sh": "source a.sh\nB=2\n"}
    run = "source a.sh\nsource large.sh\npython train.py --a $A --b $B --c $C\n"
    tree = checkout({**files, "run.sh": run, "large.sh": "C=3\n" + "# more\n" * MAX_TEXT})
    command = primary_run(tree).command
    assert command is not None
    assert (command.options["a"], command.options["b"], command.options["c"]) == ("1", "2", "$C")


def test_a_branch_is_decided_by_what_the_script_was_handed() -> None:
    script = 'model=$2\nif [[ $model == "a/net-13b" ]]; then\n  ARGS=--fsdp\nfi\n'
    for given, kept in (({"2": "a/net-7b"}, False), ({"2": "a/net-13b"}, True), ({}, True)):
        lines = with_taken_branches(iter(enumerate(script.split("\n"), 1)), given)
        assert any("ARGS" in line for _, line in lines) is kept
