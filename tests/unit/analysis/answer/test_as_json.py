from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import referencing
from hypothesis import given, settings

from gpu_lol_action.analysis.answer.as_json import analysis_json
from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.answer.confidence import decision_confidence
from gpu_lol_action.analysis.answer.priced_json import priced_json
from gpu_lol_action.domain.analysis import Analysis, Override
from gpu_lol_action.domain.finding import Confidence
from gpu_lol_action.domain.spec_schema import build_schema
from tests.support.analyses import analyses
from tests.unit.analysis.conftest import Build

ROOT = Path(__file__).parents[4]
EXAMPLES = sorted((ROOT / "tests" / "golden" / "examples").glob("*.json"))
SCHEMA = json.loads((ROOT / "docs" / "analysis.schema.json").read_text(encoding="utf-8"))
FLAT = ("workload_type", "vram_required_gb", "gpu_count", "gpu_type", "requirements", "base_image")

TRAINING = {
    "README.md": "# Tune\n\nYou need a GPU with 24 GB of memory.\n\n```\npython train.py\n```\n",
    "train.py": (
        "from transformers import AutoModelForCausalLM, Trainer, TrainingArguments\n"
        'model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen2.5-0.5B")\n'
        'args = TrainingArguments("out", per_device_train_batch_size=2, bf16=True)\n'
        "Trainer(model, args).train()\n"
    ),
    "requirements.txt": "torch\ntransformers\n",
}


def validator() -> jsonschema.Draft202012Validator:
    spec = referencing.Resource.from_contents(build_schema())
    registry = referencing.Registry().with_resource(spec.id() or "", spec)
    return jsonschema.Draft202012Validator(SCHEMA, registry=registry)


def test_published_schema_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_each_example_fits_the_published_schema(path: Path) -> None:
    validator().validate(json.loads(path.read_text(encoding="utf-8")))


@settings(max_examples=150, deadline=None)
@given(analyses)
def test_any_analysis_fits_the_published_schema(analysis: Analysis) -> None:
    validator().validate(json.loads(json.dumps(analysis_json(analysis))))


def test_every_key_of_the_schema_says_what_it_means() -> None:
    undescribed = [name for name, key in properties_of(SCHEMA, "") if not ({"description", "$ref", "const"} & set(key))]
    assert undescribed == []


def test_schema_knows_no_key_that_nothing_writes(checkout: Build) -> None:
    found = analyze(checkout(TRAINING))
    assert found.breakdown is not None
    written = set(keys_of(analysis_json(found)))
    rest = {key for path in EXAMPLES for key in keys_of(json.loads(path.read_text(encoding="utf-8")))}
    override = set(
        keys_of(analysis_json(replace(found, override=Override("m", "c", (("hardware.gpu_count", "1", "2"),)))))
    )
    # What stands beside the analysis is held to the same in test_priced_json.py.
    own = {name: key for name, key in SCHEMA["properties"].items() if name not in priced_json(None)}
    shapes = {name: key for name, key in SCHEMA["$defs"].items() if name not in {"offer", "cause"}}
    named = {name.rpartition(".")[2] for name, _ in properties_of({"properties": own, "$defs": shapes}, "")}
    assert named - {"spec"} <= written | rest | override


def test_flat_keys_stand_at_the_top_level(checkout: Build) -> None:
    found = analysis_json(analyze(checkout(TRAINING)))
    assert found["schema_version"] == 2
    assert set(FLAT) <= set(found)
    assert found["workload_type"] == "training"


def test_documented_stands_beside_computed(checkout: Build) -> None:
    found = analysis_json(analyze(checkout(TRAINING)))
    stated = found["documented"][0]
    assert (stated["kind"], stated["value"], stated["memory_gib"]) == ("memory", "24", 24.0)
    assert (stated["path"], stated["line"], stated["is_weighed"]) == ("README.md", 3, True)
    assert 0 < found["computed"]["memory_gib"] < found["vram_required_gb"] <= 24


def test_finding_has_path_and_line_beside_where(checkout: Build) -> None:
    found = analysis_json(analyze(checkout(TRAINING)))
    model = next(finding for finding in found["findings"] if finding["field"] == "model.id")
    assert (model["where"], model["path"], model["line"]) == ("train.py:2", "train.py", 2)


def test_confidence_is_that_of_the_finding_behind_the_decision(checkout: Build) -> None:
    found = analyze(checkout(TRAINING))
    sure = decision_confidence(found)
    assert sure["workload_type"] is Confidence.HIGH
    assert sure["base_image"] is Confidence.LOW
    claimed = replace(found, override=Override("m", "c", (("meta.workload_type", "training", "inference"),)))
    assert decision_confidence(claimed)["workload_type"] is Confidence.LOW


def test_what_the_file_says_otherwise_is_sure(checkout: Build) -> None:
    files = {**TRAINING, ".gpu-lol.yaml": "environment: {base_image: 'example/own:1'}\n"}
    tree = checkout(files)
    assert decision_confidence(analyze(tree, tree.spec_text))["base_image"] is Confidence.HIGH


def properties_of(schema: dict[str, Any], prefix: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, key in schema.get("properties", {}).items():
        yield f"{prefix}{name}", key
        yield from properties_of(key, f"{prefix}{name}.")
    for part in [*schema.get("oneOf", []), *([schema["items"]] if "items" in schema else [])]:
        yield from properties_of(part, prefix)
    for name, part in schema.get("$defs", {}).items():
        yield from properties_of(part, f"{name}.")


def keys_of(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from keys_of(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from keys_of(inner)
