from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_lol_action.estimation.hub_model import adapter_base, is_adapter, is_hub_id, read_model
from gpu_lol_action.estimation.model_facts import find_model

LLAMA = {
    "architectures": ["LlamaForCausalLM"], "hidden_act": "silu", "hidden_size": 4096, "intermediate_size": 11008,
    "num_attention_heads": 32, "num_hidden_layers": 32, "num_key_value_heads": 32, "tie_word_embeddings": False, "vocab_size": 32000,
}  # fmt: skip
MIXTRAL = {
    **LLAMA, "architectures": ["MixtralForCausalLM"], "intermediate_size": 14336, "num_key_value_heads": 8, "num_local_experts": 8,
}  # fmt: skip
DEEPSEEK_V3 = {
    "architectures": ["DeepseekV3ForCausalLM"], "first_k_dense_replace": 3, "hidden_act": "silu", "hidden_size": 7168,
    "intermediate_size": 18432, "kv_lora_rank": 512, "moe_intermediate_size": 2048, "n_routed_experts": 256, "n_shared_experts": 1,
    "num_attention_heads": 128, "num_hidden_layers": 61, "num_key_value_heads": 128, "q_lora_rank": 1536, "qk_nope_head_dim": 128,
    "qk_rope_head_dim": 64, "tie_word_embeddings": False, "v_head_dim": 128, "vocab_size": 129280,
}  # fmt: skip
GPT2 = {"architectures": ["GPT2LMHeadModel"], "activation_function": "gelu_new", "n_embd": 768, "n_head": 12, "n_layer": 12,
        "vocab_size": 50257}  # fmt: skip
BERT = {"architectures": ["BertForMaskedLM"], "hidden_act": "gelu", "hidden_size": 768, "intermediate_size": 3072,
        "num_attention_heads": 12, "num_hidden_layers": 12, "vocab_size": 30522}  # fmt: skip
T5_SMALL = {"architectures": ["T5ForConditionalGeneration"], "d_ff": 2048, "d_kv": 64, "d_model": 512, "is_encoder_decoder": True,
            "num_decoder_layers": 6, "num_heads": 8, "num_layers": 6, "vocab_size": 32128}  # fmt: skip
QWEN_MOE = {
    "architectures": ["Qwen3MoeForCausalLM"], "head_dim": 128, "hidden_act": "silu", "hidden_size": 2048, "intermediate_size": 6144,
    "moe_intermediate_size": 768, "num_attention_heads": 32, "num_experts": 128, "num_hidden_layers": 48, "num_key_value_heads": 4,
    "tie_word_embeddings": False, "vocab_size": 151936,
}  # fmt: skip


def read(config: dict[str, Any] | None, **info: Any) -> Any:
    return read_model("acme/new", info, config)


@pytest.mark.parametrize(
    ("config", "published_b", "kind"),
    [
        (LLAMA, 6.738, "llm"),
        (MIXTRAL, 46.70, "llm-moe"),
        (DEEPSEEK_V3, 671.0, "llm-moe"),
        (QWEN_MOE, 30.53, "llm-moe"),
        (GPT2, 0.1244, "llm"),
        (BERT, 0.1099, "encoder"),
        (T5_SMALL, 0.0605, "seq2seq"),
    ],
)
def test_a_shape_counts_to_what_is_published(config: dict[str, Any], published_b: float, kind: str) -> None:
    facts = read(config).facts
    assert facts.parameters_b == pytest.approx(published_b, rel=0.03)
    assert (facts.kind, facts.source) == (kind, "hub")


def test_every_dense_language_model_of_the_table_agrees_with_its_shape_but_for_width_unknown() -> None:
    # The table has no feed-forward widths; those two are stated by their config.json.
    for name, ffn in (("Qwen/Qwen2.5-7B", 18944), ("mistralai/Mistral-7B-v0.1", 14336)):
        known = find_model(name)
        assert known is not None
        config = {"hidden_act": "silu", "hidden_size": known.hidden_size, "intermediate_size": ffn, "tie_word_embeddings": False,
                  "num_attention_heads": known.attention_heads, "num_hidden_layers": known.layers,
                  "num_key_value_heads": known.kv_heads, "vocab_size": known.vocabulary}  # fmt: skip
        assert read(config).facts.parameters_b == pytest.approx(known.parameters_b, rel=0.01)


def test_the_weights_own_count_wins() -> None:
    found = read(LLAMA, safetensors={"parameters": {"BF16": 7_000_000_000, "F32": 128}, "total": 7_000_000_128})
    assert found.facts.parameters_b == 7.0
    assert (found.facts.hidden_size, found.facts.layers, found.facts.kv_heads, found.facts.vocabulary) == (
        4096,
        32,
        32,
        32000,
    )
    assert found.weight_bits is None


def test_a_text_model_inside_is_the_shape_and_a_vision_part_makes_it_see() -> None:
    nested = {"architectures": ["LlavaForConditionalGeneration"], "vision_config": {"hidden_size": 1024, "num_hidden_layers": 24},
              "text_config": LLAMA}  # fmt: skip
    found = read(nested, safetensors={"parameters": {"BF16": 7_060_000_000}}).facts
    assert (found.kind, found.hidden_size, found.parameters_b) == ("vlm", 4096, 7.06)
    deeper = {"thinker_config": {"text_config": LLAMA, "vision_config": {"a": 1}}}
    assert read(deeper).facts.layers == 32
    clip = {"architectures": ["CLIPModel"], "text_config": {"a": 1}, "vision_config": {"a": 1}}
    assert read(clip, safetensors={"parameters": {"F32": 150_000_000}}).facts.kind == "vision-text"


@pytest.mark.parametrize(
    ("settings", "bits"),
    [
        ({"quant_method": "gptq", "bits": 4}, 4),
        ({"quant_method": "gptq", "bits": 3}, 4),
        ({"quant_method": "awq", "w_bit": 4}, 4),
        ({"quant_method": "bitsandbytes", "load_in_4bit": True}, 4),
        ({"quant_method": "bitsandbytes", "_load_in_8bit": True}, 8),
        ({"quant_method": "fp8"}, 8),
        ({"quant_method": "mxfp4"}, 4),
        ({"quant_method": "compressed-tensors", "config_groups": {"group_0": {"weights": {"num_bits": 8}}}}, 8),
        ({"quant_method": "unheard-of"}, None),
        ({"bits": True}, None),
        ({"bits": 16}, None),
        ({"bits": "4"}, None),
        ("gptq", None),
    ],
)
def test_quantized_weights_are_known_by_their_settings(settings: object, bits: int | None) -> None:
    assert read({**LLAMA, "quantization_config": settings}).weight_bits == bits


def test_packed_weights_are_counted_by_the_shape_or_unpacked() -> None:
    packed = {"parameters": {"I32": 800_000_000, "F16": 280_000_000}, "total": 1_080_000_000}
    quantized = {"quantization_config": {"quant_method": "gptq", "bits": 4}}
    assert read({**LLAMA, **quantized}, safetensors=packed).facts.parameters_b == pytest.approx(6.738, rel=0.01)
    # Eight weights of 4 bits lie in one word of 32.
    assert read(quantized, safetensors=packed).facts.parameters_b == pytest.approx(6.68, rel=0.01)


def test_a_model_behind_a_gate_has_a_size_and_the_shape_of_its_kin() -> None:
    found = read_model(
        "meta-llama/Llama-9.9-8B",
        {"safetensors": {"parameters": {"BF16": 8_030_261_248}}, "pipeline_tag": "text-generation"},
        None,
    )
    assert found is not None
    assert found.facts.parameters_b == pytest.approx(8.03, rel=0.001)
    assert found.facts.has_shape
    assert "shape taken from" in found.facts.note


@pytest.mark.parametrize(
    ("task", "kind"),
    [("automatic-speech-recognition", "asr"), ("image-classification", "vision"), ("text-to-image", "diffusion-image"),
     ("sentence-similarity", "embedding"), ("unheard-of", "llm"), (["x"], "llm"), (None, "llm")],
)  # fmt: skip
def test_the_task_names_the_kind_where_no_architecture_does(task: object, kind: str) -> None:
    assert read(None, pipeline_tag=task, safetensors={"parameters": {"F32": 5_000_000}}).facts.kind == kind


def test_a_file_of_one_quantized_model_says_its_total() -> None:
    assert read(None, gguf={"total": 8_000_000_000}).facts.parameters_b == 8.0


@pytest.mark.parametrize(
    ("config", "info"),
    [
        (None, {}),
        ({}, {"safetensors": None}),
        ({"hidden_size": "4096", "num_hidden_layers": True, "vocab_size": 1.5}, {"safetensors": {"parameters": []}}),
        (
            {"hidden_size": -1, "num_hidden_layers": 10**9, "vocab_size": 0},
            {"safetensors": {"parameters": {"BF16": -5, "F32": True}}},
        ),
        ({"text_config": [], "architectures": [None]}, {"gguf": {"total": 10**30}, "config": 3}),
        (None, {"safetensors": {"parameters": {"F32": 10**40}}}),
    ],
)
def test_what_cannot_be_is_not_said(config: dict[str, Any] | None, info: dict[str, Any]) -> None:
    assert read_model("acme/new", info, config) is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from([*LLAMA, "text_config", "safetensors", "parameters", "config", "peft", "quantization_config", "bits", "total",
                         "config_groups", "weights", "is_encoder_decoder", "vision_config", "gguf", "pipeline_tag", "n_routed_experts",
                         "kv_lora_rank", "base_model_name_or_path"]),
        inner, max_size=6),
    max_leaves=25,
)  # fmt: skip


@given(st.dictionaries(st.sampled_from(["safetensors", "config", "gguf", "pipeline_tag", "library_name"]), JSON), JSON)
def test_no_json_of_a_stranger_breaks_it(info: dict[str, Any], config: Any) -> None:
    fields = config if isinstance(config, dict) else None
    found = read_model("acme/new", info, fields)
    if found is not None:
        assert 1e-4 <= found.facts.parameters_b <= 1e4
        assert found.weight_bits in {None, 4, 8}
    is_adapter(info)
    base = adapter_base(info, fields)
    assert base is None or is_hub_id(base)


def test_an_adapter_names_its_base() -> None:
    info = {"library_name": "peft", "config": {"peft": {"base_model_name_or_path": "acme/base-3b"}}}
    assert is_adapter(info)
    assert adapter_base(info, None) == "acme/base-3b"
    assert adapter_base(info, {"base_model_name_or_path": " acme/other "}) == "acme/other"
    assert adapter_base({}, {"base_model_name_or_path": "../../etc/passwd"}) is None
    assert adapter_base({}, {"base_model_name_or_path": ["acme/base"]}) is None


@pytest.mark.parametrize(
    "name", ["Qwen/Qwen2.5-7B", "a/b", "google-t5/t5_base", "01-ai/Yi-6B", "HuggingFaceTB/SmolLM3-3B"]
)
def test_an_id_of_the_hub_is_known(name: str) -> None:
    assert is_hub_id(name)
