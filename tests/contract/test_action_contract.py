from __future__ import annotations

from pathlib import Path

import yaml

from gpu_lol_action.action_io import INPUTS, OUTPUTS

ROOT = Path(__file__).parents[2]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))


def test_inputs_of_the_action_are_those_that_the_code_reads() -> None:
    declared = {name: (item["default"], item["description"]) for name, item in ACTION["inputs"].items()}
    assert declared == {item.name: (item.default, item.summary) for item in INPUTS}


def test_outputs_of_the_action_are_those_that_the_code_writes() -> None:
    declared = {name: item["description"] for name, item in ACTION["outputs"].items()}
    assert declared == {item.name: item.summary for item in OUTPUTS}


def test_readme_lists_every_input_and_output() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for item in INPUTS:
        assert f"| `{item.name}` | {item.summary} |" in readme
    for output in OUTPUTS:
        assert f"| `{output.name}` | {output.summary} |" in readme


def test_entry_points_replace_their_shell_so_that_signals_arrive() -> None:
    for step in ACTION["runs"]["steps"]:
        assert step["run"].startswith("exec "), step["name"]


def test_copilots_program_is_installed_before_it_is_asked_and_stops_nothing() -> None:
    names = [step["name"] for step in ACTION["runs"]["steps"]]
    (copilot,) = [step for step in ACTION["runs"]["steps"] if "install-copilot" in step["run"]]
    assert copilot["if"] == "inputs.llm-url == 'copilot'"
    assert copilot["continue-on-error"] is True
    assert names.index(copilot["name"]) < names.index("Decide") < names.index("Act")


def test_no_expression_stands_in_a_script() -> None:
    for step in ACTION["runs"]["steps"]:
        assert "${{" not in step["run"], step["name"]


def test_every_input_reaches_both_python_steps_by_a_variable_that_is_read() -> None:
    python_steps = [step for step in ACTION["runs"]["steps"] if "gpu_lol_action" in step["run"]]
    assert len(python_steps) == 2
    for step in python_steps:
        for item in INPUTS:
            if not item.is_handed_on:
                assert step["env"][item.name.replace("-", "_").upper()] == f"${{{{ inputs.{item.name} }}}}"


def test_what_jobs_hand_on_reaches_the_step_that_reads_it() -> None:
    decide, act = (step["env"] for step in ACTION["runs"]["steps"] if "gpu_lol_action" in step["run"])
    assert decide["GPU_LOL_CLOUDS"] == "${{ inputs.clouds }}"
    assert "GPU_LOL_CLOUDS" not in act, "the step that rents counts keys, not promises"
    assert act["GPU_LOL_PINNED_SHA"].endswith("|| inputs.pinned-sha }}")
    for name in ("GPU_LOL_FINISHING", "GPU_LOL_ACT_DECISION", "GPU_LOL_JOB_MINUTES"):
        assert decide[name] == act[name]


def test_step_with_the_cloud_runs_also_behind_a_red_light_step_but_never_in_decide() -> None:
    install, act = ACTION["runs"]["steps"][-2:]
    assert install["if"] == act["if"]
    assert "!cancelled()" in act["if"]
    assert "inputs.phase != 'decide'" in act["if"]
