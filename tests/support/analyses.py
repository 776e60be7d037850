"""Analyses made by hypothesis: any text that a repository may hold, any combination that the types allow."""

from __future__ import annotations

from hypothesis import strategies as st

from gpu_lol_action.domain.analysis import Analysis, Override, Profile
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.memory import MemoryBreakdown, MemoryTerm
from gpu_lol_action.domain.spec import (
    Dependencies,
    EnvironmentSpec,
    Hardware,
    Meta,
    Software,
    SpecDifference,
    WorkloadType,
)

# What a stranger may put into a name, a path or a value, beside plain words.
NASTY = (
    "\x1b[31mred\x1b[0m",
    "\x1b]8;;https://evil.example\x07link\x1b]8;;\x07",
    "\u202egnp.exe",
    "\x07\x08\r",
    "\u200b\u2066",
)
texts = st.one_of(
    st.just("deep/folder/" * 6 + "train.sh"),
    st.sampled_from(NASTY),
    st.text(max_size=24),
    st.sampled_from(("train.py", "模型/训练.py", "a" * 300)),
)
gib = st.floats(min_value=0, max_value=2000, allow_nan=False).map(lambda size: round(size, 1))
places = st.builds(Evidence, texts, st.integers(0, 9999))
FIELDS = (
    "entry_point", "workload", "model.id", "model.layers", "model.family", "training.method", "training.batch_size",
    "hardware.gpu_count", "hardware.vram_required_gb", "environment.base_image", "framework.torch",
    "dependencies.requirements", "something.new",
)  # fmt: skip
plain_findings = st.builds(Finding, st.sampled_from(FIELDS), texts, texts, st.sampled_from(Confidence), places)
purposes = st.sampled_from(("documented", "documented.training", "documented.inference"))
stated_findings = st.one_of(
    st.builds(Finding, purposes.map("{}.memory_gb".format), st.sampled_from(("24", "7.5")), texts, st.sampled_from(Confidence), places),
    st.builds(Finding, purposes.map("{}.card".format), st.sampled_from(("H100", "A40")), texts, st.sampled_from(Confidence), places),
    st.builds(Finding, st.just("documented.gpu_count"), st.just("8"), texts, st.sampled_from(Confidence), places),
)  # fmt: skip
findings = st.lists(st.one_of(plain_findings, stated_findings), max_size=8).map(tuple)
terms = st.builds(MemoryTerm, st.one_of(st.just("weights"), texts), gib, texts, st.none() | places)
breakdowns = st.builds(
    MemoryBreakdown,
    st.lists(terms, max_size=4).map(tuple), gib, gib, gib, gib, texts, st.lists(texts, max_size=2).map(tuple),
    st.none() | gib, st.none() | stated_findings.filter(lambda finding: not finding.field.endswith("gpu_count")),
)  # fmt: skip
specs = st.builds(
    EnvironmentSpec,
    st.builds(Hardware, st.sampled_from((None, "A40", "H100")), st.integers(0, 8), st.none() | st.integers(1, 200)),
    st.builds(Software, st.none() | st.just("python:3.11-slim")),
    st.builds(Dependencies, st.lists(st.sampled_from(("torch", "peft>=0.13")), max_size=9).map(tuple)),
    st.builds(Meta, workload_type=st.sampled_from(WorkloadType)),
)
profiles = st.builds(
    Profile, texts, texts, places, st.sampled_from(WorkloadType), st.integers(0, 8), st.none() | st.integers(1, 200),
    st.none() | breakdowns, st.lists(texts, max_size=2).map(tuple), texts,
)  # fmt: skip
analyses = st.builds(
    Analysis,
    spec=specs,
    proposed=specs,
    breakdown=st.none() | breakdowns,
    findings=findings,
    not_understood=st.lists(st.one_of(texts, texts.map("{} was assumed".format)), max_size=3).map(tuple),
    differences=st.lists(st.builds(SpecDifference, texts, texts, texts, texts), max_size=2).map(tuple),
    spec_path=st.sampled_from((None, ".gpu-lol.yaml")),
    files_read=st.integers(0, 9999),
    files_skipped=st.integers(0, 99),
    override=st.none() | st.builds(Override, texts, texts, st.just((("hardware.gpu_count", "1", "2"),))),
    profiles=st.lists(profiles, max_size=3).map(tuple),
)
