"""What a language model may say of packages: what the files name, or well-known ones; and none that the run imports is taken out."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gpu_lol_action.analysis.answer.as_json import analysis_json
from gpu_lol_action.analysis.answer.assemble import UNNEEDED, analyze
from gpu_lol_action.analysis.answer.llm_advice import Refused, read_advice, write_advice
from gpu_lol_action.analysis.answer.llm_guard import apply_advice, claim, hints_of
from gpu_lol_action.analysis.answer.llm_packages import offered_packages, read_packages
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.files.located import in_folder
from gpu_lol_action.analysis.package_lists.glued_names import is_published
from gpu_lol_action.domain.analysis import Analysis

Build = Callable[[Mapping[str, str]], Checkout]

FILES = {
    "requirements.txt": "torch\ntransformers\nvllm\n",
    "train.py": "import torch\nfrom transformers import AutoModelForCausalLM, Trainer\n\n"
    'model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen2.5-0.5B")\n\n'
    'if __name__ == "__main__":\n    Trainer(model=model).train()\n',
    "README.md": "# Lab\n## Optional\n```\npip install stranger-kernels==2.1\n```\n",
}


def advised(tree: Checkout, answer: Mapping[str, object]) -> Analysis:
    """Return what an answer makes of a checkout, the way the handler does it."""
    advice = read_advice(json.dumps(answer))
    assert not isinstance(advice, Refused), advice
    before = analyze(tree)
    packages = read_packages(tree, before, advice, claim("some-model", advice))
    after = analyze(tree, hints=(*hints_of(advice, "some-model"), *packages.hints))
    found = apply_advice(before, after, advice, "some-model", None, packages)
    assert isinstance(found, Analysis), found
    return found


def changes(found: Analysis) -> dict[str, tuple[str, str]]:
    return {key: (was, now) for key, was, now in (found.override.changes if found.override else ())}


def test_what_the_files_name_is_added_as_they_name_it(checkout: Build) -> None:
    found = advised(checkout(FILES), {"add_packages": ["stranger_kernels"], "reason": "train.py needs it"})
    assert found.proposed.dependencies.requirements[-1] == "stranger-kernels==2.1"
    assert changes(found) == {"packages": ("none of these", "stranger-kernels==2.1")}
    (finding,) = (finding for finding in found.findings if finding.value == "stranger-kernels==2.1" and "needs it" in finding.why
                  and finding.field == "dependencies.requirements")  # fmt: skip
    assert str(finding.evidence) == "README.md:4"
    assert analysis_json(found)["confidence"]["requirements"] == "low"


def test_what_is_added_is_no_longer_called_unknown(checkout: Build) -> None:
    files = {**FILES, "train.py": f"import stranger_kernels\nimport other_kernels\n{FILES['train.py']}"}
    tree = checkout(files)
    (before,) = (gap for gap in analyze(tree).not_understood if "stranger_kernels" in gap)
    assert "other_kernels (train.py:2)" in before
    (after,) = (gap for gap in advised(tree, {"add_packages": ["stranger-kernels"]}).not_understood if "imports" in gap)
    assert after.endswith(": other_kernels (train.py:2)")
    both = {**files, "README.md": files["README.md"].replace("==2.1", " other-kernels")}
    found = advised(checkout(both), {"add_packages": ["stranger-kernels", "other-kernels"]})
    assert not [gap for gap in found.not_understood if "imports" in gap]


def test_a_well_known_package_is_added_by_its_name(checkout: Build) -> None:
    found = advised(checkout(FILES), {"add_packages": ["DeepSpeed>=0.1"]})
    assert found.proposed.dependencies.requirements[-1] == "deepspeed"


def test_many_are_all_installed_and_told_in_short(checkout: Build) -> None:
    names = [f"kernels-{number:02}" for number in range(12)]
    files = {**FILES, "README.md": f"# Lab\n```\npip install {' '.join(names)}\n```\n", "other/train.py": "print(1)\n"}
    found = advised(
        checkout({**files, "other/README.md": files["README.md"], "README.md": "# Lab\n"}), {"add_packages": names}
    )
    assert set(names) <= set(found.proposed.dependencies.requirements)
    (_, told) = changes(found)["packages"]
    assert told == f"{', '.join(names[:8])} and 4 more"


@pytest.mark.parametrize(
    "name",
    [
        "transfomers-cuda",  # nobody's, or a stranger's
        "apex",  # an address behind a known name
    ],
)
def test_what_nobody_knows_is_not_added_and_that_is_told(checkout: Build, name: str) -> None:
    tree = checkout(FILES)
    alone = analyze(tree)
    found = advised(tree, {"add_packages": [name]})
    assert found.proposed.dependencies == alone.proposed.dependencies
    assert "packages" not in changes(found)
    (gap,) = found.not_understood[len(alone.not_understood) :]
    assert f"`{name}`" in gap


@pytest.mark.parametrize(
    "name", ["git+https://example.org/x.git", "--index-url=https://example.org", "a b", "", "`x`", "x; rm -rf /", "-r list"]
)  # fmt: skip
def test_what_is_no_name_is_passed_over(checkout: Build, name: str) -> None:
    tree = checkout(FILES)
    found = advised(tree, {"add_packages": [name], "drop_packages": [name]})
    assert found == analyze(tree)


def test_what_the_run_does_not_import_may_be_dropped(checkout: Build) -> None:
    found = advised(checkout(FILES), {"drop_packages": ["vllm"]})
    assert found.proposed.dependencies.requirements == ("torch", "transformers", "accelerate")
    assert "vllm" not in str(found.proposed.environment.base_image)
    assert changes(found) == {"packages": ("vllm", "none of these")}
    assert [f.value for f in found.findings if f.field == UNNEEDED] == ["vllm"]
    assert not [f for f in found.findings if f.field == "dependencies.requirements" and f.value == "vllm"]


def test_what_the_run_imports_is_kept_and_that_is_told(checkout: Build) -> None:
    tree = checkout(FILES)
    alone = analyze(tree)
    found = advised(tree, {"drop_packages": ["transformers", "vllm"]})
    assert found.proposed.dependencies.requirements == ("torch", "transformers", "accelerate")
    (gap,) = found.not_understood[len(alone.not_understood) :]
    assert "`transformers`" in gap


def test_what_is_proposed_already_or_not_at_all_changes_nothing(checkout: Build) -> None:
    tree = checkout(FILES)
    assert advised(tree, {"add_packages": ["torch"], "drop_packages": ["scipy"]}) == analyze(tree)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ({"add_packages": "torch"}, "add_packages"),
        ({"add_packages": [1]}, "add_packages"),
        ({"drop_packages": {"a": 1}}, "drop_packages"),
        ({"drop_packages": ["x" * 200]}, "drop_packages"),
        ({"add_packages": [f"package-{number}" for number in range(61)]}, "more than 60"),
    ],
)
def test_no_list_of_names_is_refused(answer: dict[str, object], words: str) -> None:
    advice = read_advice(json.dumps(answer))
    assert isinstance(advice, Refused)
    assert words in advice.what


def test_what_is_kept_of_an_answer_says_the_same_of_packages() -> None:
    advice = read_advice(json.dumps({"add_packages": ["monai", "monai", "spconv-cu120"], "drop_packages": ["vllm"]}))
    assert not isinstance(advice, Refused)
    assert (advice.added, advice.dropped) == (("monai", "spconv-cu120"), ("vllm",))
    assert read_advice(write_advice(advice)) == advice


NAMES = st.lists(
    st.text(max_size=30) | st.sampled_from(["vllm", "torch", "stranger-kernels", "monai", "git+https://a/b"]),
    max_size=6,
)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(added=NAMES, dropped=NAMES)
def test_whatever_is_named_only_known_packages_are_installed(
    checkout: Build, added: list[str], dropped: list[str]
) -> None:
    tree = checkout(FILES)
    before = set(analyze(tree).proposed.dependencies.requirements)
    found = set(advised(tree, {"add_packages": added, "drop_packages": dropped}).proposed.dependencies.requirements)
    assert before - found <= {"vllm", "accelerate"}
    assert all(name == "stranger-kernels==2.1" or is_published(name) for name in found - before)


def test_of_a_project_in_a_folder_its_own_files_name_packages_and_its_own_run_imports_them(checkout: Build) -> None:
    beside = {
        "serve.py": "import flask\nfrom transformers import pipeline\npipeline('text-generation', 'Qwen/Qwen2.5-7B').model.cuda()\n",
        "requirements.txt": "flask\n",
        "README.md": "# Lab\n## Optional\n```\npip install outside-kernels\n```\n",
    }
    tree = in_folder(checkout({**beside, **{f"lab/{path}": text for path, text in FILES.items()}}), "lab")
    assert tree is not None
    offered = offered_packages(tree, analyze(tree))
    assert [(finding.value, str(finding.evidence)) for finding in offered] == [
        ("stranger-kernels==2.1", "lab/README.md:4")
    ]
    found = advised(tree, {"add_packages": ["stranger_kernels", "outside-kernels"], "drop_packages": ["transformers"]})
    assert "stranger-kernels==2.1" in found.proposed.dependencies.requirements
    assert "transformers" in found.proposed.dependencies.requirements
    said = " ".join(found.not_understood)
    assert "would add `outside-kernels`, which no file of the code names" in said
    assert "would drop `transformers`, which the run imports as it starts" in said
    places = {str(finding.evidence) for finding in found.findings if finding.value == "stranger-kernels==2.1"}
    assert "lab/README.md:4" in places
