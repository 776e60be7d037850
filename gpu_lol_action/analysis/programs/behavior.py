"""What a program does, told from what it calls: trains, infers, or neither; and which packages make a GPU worth having."""

from __future__ import annotations

import enum

from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.analysis.files.effort import remembered
from gpu_lol_action.analysis.formats.gpu_libraries import BROUGHT, GPU_MODULES, brought_by
from gpu_lol_action.analysis.programs.card_by_word import learns_on_told_card
from gpu_lol_action.analysis.python.code import Call, Import, PythonCode
from gpu_lol_action.analysis.python.library_calls import BRINGS, INFERS, TRAINS, library_call
from gpu_lol_action.domain.patterns import regex

_GPU_WORDS = GPU_MODULES | {name.partition(".")[0] for name in BROUGHT}
"""Words of which one stands in the line that imports a GPU library, or what brings one."""
# A call of these trains, whatever it is called on.
_TRAINING_CALLS = frozenset({
    "backward", "train_on_batch", "fit_one_cycle", "fine_tune", "manual_backward", "train_step", "value_and_grad",
    "training_step", "apply_gradients", "train_and_evaluate", "fit_generator", "train_detector", "train_model",
    "train_segmentor", "run_train", "pretrain", "compute_gradients", "GradientTape", "multi_gpu_train",
    "optimize_parameters", "update_learning_rate", "_train",
    "zero_grad", "create_supervised_trainer", "pretrain_recipe", "finetune_recipe", "run_training",
    "train_agent", "train_agent_with_evaluation", "train_agent_batch", "train_agent_batch_with_evaluation", "train_agent_async",
})  # fmt: skip
# What trainers and engines of one's own call a part of their work (``trainer.train_rlhf(batch)``, ``engine.train_batch(rows)``).
_PARTS_OF_TRAINING = ("train_batch", "train_epoch", "train_one_epoch", "train_rlhf", "train_unsupervised", "train_loop")
_TRAINING_NAMES = frozenset({"deepspeed.initialize", "jax.grad", "nj.grad", "tune.run", "optax.apply_updates",
                             "fairseq_cli.train", "trlx.train", "tf.gradients"})  # fmt: skip
_PLACES = frozenset({"model", "config", "config_params", "dist_init_required"})
_OPTIMIZERS = regex(r"(?:torch\.optim|transformers|optim|optax|tf\.(?:keras\.|compat\.v1\.)?(?:optimizers|train)|keras\.optimizers)\."
                         r"(?:\w*Optimizer|Adam\w*|adam\w*|SGD|sgd|RMSprop|rmsprop|Adafactor|adafactor|Lion|lion|LAMB|lamb)")  # fmt: skip
_MORE_OPTIMIZERS = ("Adagrad", "Adadelta", "RAdam", "NAdam", "LBFGS", "DiffGrad", "AdamP")
_OPTIMIZER_CALL = regex(
    rf"(?:torch\.)?optim\.(?:[a-z]\w{{1,20}}\.)?(?:Adam\w*|SGD|RMSprop|{'|'.join(_MORE_OPTIMIZERS)})"
)
_TRAINER = regex(
    r"(?:\w*Trainer|TrainingArguments|\w*TrainingArguments|(?:SFT|DPO|GRPO|PPO|ORPO|KTO|Reward|RLOO)Config|LightningCLI)"
)
# The last words of all calls that may train, for a first look at a program's text.
_TRAINING_WORDS = ("*Trainer", "*TrainingArguments", "LightningCLI", "fit", "learn", "train", "training", "minimize", *_PARTS_OF_TRAINING,
                   *sorted(_TRAINING_CALLS), *sorted(name.rpartition(".")[2] for name in _TRAINING_NAMES),
                   *(f"{kind}Config" for kind in ("SFT", "DPO", "GRPO", "PPO", "ORPO", "KTO", "Reward", "RLOO")))  # fmt: skip
_OPTIMIZER_WORDS = ("*Optimizer", "Adam", "AdamW", "Adamax", "Adam8bit", "AdamW8bit", "Adamw", "adam", "adamw", "SGD", "sgd", "RMSprop",
                    "rmsprop", "Adafactor", "adafactor", "Lion", "lion", "LAMB", "lamb")  # fmt: skip
# The main function of a module that is named for training.
_STARTING_WORDS = ("cli_main", "main", "trainer", "run_exp")
_STARTS_TRAINING = regex(
    r"(?:\w+\.)*(?:hydra_|pre)?train(?:ing|er)?\.(?:cli_)?main|(?:llmtuner|llamafactory)\.(?:\w+\.)*run_exp"
)
# Libraries whose optimizers take their step by ``minimize(loss)``; elsewhere it fits a curve.
_BY_GRAPH = frozenset({"tensorflow", "paddle"})
_FIT_OWNERS = frozenset(
    {"torch", "lightning", "pytorch_lightning", "tensorflow", "keras", "tf_keras", "fastai", "sentence_transformers", "jax",
     "flax", "autokeras", "paddle", "mxnet", "composer", "tianshou", "monai", "setfit", "torch_geometric", "speechbrain", "cuml", "hugectr"}
)  # fmt: skip
# What is fitted and learns nothing on a GPU: an index, a vectorizer, a scaler (``vector_index.fit(vectors, documents)``).
NO_NETWORK = regex(r"index|vectori[sz]er|tf_?idf|scaler|binari[sz]er|imputer|pca|kmeans|cluster|tokeni[sz]er|encoder$")
# Owners of a plain ``train()`` that trains: a trainer, an estimator, an engine's runner. ``model.train()`` only sets a mode.
_TRAIN_OWNERS = regex(
    r"(?<!sentencepiece)(?<!bpe)(?<!wordpiece)(?<!unigram)(?<!wordlevel)trainer|yolo|runner|estimator|algo(?:rithm)?$|learner|engine|experiment|framework$|agent$|solver$"
)
# How long agents learn, as libraries of reinforcement learning call it.
_LEARNS_FOR = ("total_timesteps", "max_timesteps", "num_learning_iterations", "total_steps", "num_env_steps")
_INFERENCE_CALLS = frozenset({
    "generate", "LLM", "pipeline", "transcribe", "InferencePipeline", "chat", "stream_chat", "predict", "text_completion",
    "chat_completion", "AsyncLLMEngine", "encode_prompt", "infer", "inference", "inference_mode", "tts", "tts_to_file", "synthesize", "sample",
    "InferenceRunner", "encode_image", "encode_text", "sample_from_model", "sample_sequence", "generate_text", "run_inference", "generate_speech", "generate_audio",
    "TensorFlowBenchmark", "PyTorchBenchmark", "launch_server", "vLLMEngineProcessorConfig", "build_openai_app", "generate_image", "generate_video", "inference_detector", "init_detector", "inference_model", "p_sample_loop",
    "predict_from_files", "predict_from_folder", "predict_from_raw_data", "predict_single_npy_array", "predict_from_list_of_npy_arrays",
})  # fmt: skip
_INFERENCE_WORDS = tuple(sorted(_INFERENCE_CALLS))
_LOADS = ("from_pretrained", "load_model", "load_state_dict", "load_checkpoint", "load_from_checkpoint", "from_single_file", "restore_checkpoint",
          "SamPredictor", "YOLO", "SentenceTransformer", "CrossEncoder", "SparseEncoder", "WhisperModel")  # fmt: skip

_LOADING_NAMES = ("hub.load", "saved_model.load")  # torch.hub, TensorFlow Hub, and what TensorFlow saved
# Arrays on a card, by which no network learns: a trainer beside them fits a mixture or a forest.
ARRAYS = frozenset({"cupy", "cudf", "rmm"})


class Behavior(enum.Enum):
    """What a program does with a model."""

    TRAINS = "trains"
    INFERS = "infers"
    NEITHER = "neither"


def behavior_of(code: PythonCode, *, uses_gpu: bool = False) -> tuple[Behavior, Call | None]:
    """Return what a program does, and the call that says so. ``uses_gpu``: what it imports uses a GPU library."""
    imported = code.imported()
    # Boosted trees that are only loaded and asked (``clf.load_model(path)``) train nothing.
    # Agents of RLlib and trees learn on a card where they are told to.
    if learns_on_told_card(code):
        return Behavior.TRAINS, None
    if not uses_gpu and not imported & GPU_MODULES:
        loads = library_call(code, BRINGS)
        return (Behavior.INFERS, loads) if loads is not None else (Behavior.NEITHER, None)
    is_of_arrays = not uses_gpu and imported & GPU_MODULES <= ARRAYS
    words = () if is_of_arrays else _TRAINING_WORDS
    said = (call for call in (code.calls_named(*words) if words else ()) if is_training_call(call, imported))
    idle = (_only_places, _only_guides, _only_asks)
    training = next((call for call in said if not any(is_idle(code, call) for is_idle in idle)), None)
    training = training or _of_other_code(code) or library_call(code, TRAINS)
    # An optimizer is only made to train, but the step itself says it better.
    if training is None and "jax" in imported:
        training = next((call for call in code.calls_named("grad") if _full_name(code, call) == "jax.grad"), None)
    words = () if training is not None or _optimizes_a_picture(code) else _OPTIMIZER_WORDS
    optimizers = (c for c in (code.calls_named(*words) if words else ()) if _OPTIMIZERS.fullmatch(_full_name(code, c)))
    training = training or next(optimizers, None)
    if training is not None:
        return Behavior.TRAINS, training
    inference = next((call for call in code.calls_named(*_INFERENCE_WORDS) if _is_inference_call(call)), None)
    inference = inference or next((call for call in code.calls_named(*_LOADS) if "oken" not in call.name), None)
    inference = inference or next((c for c in code.calls_named("load") if c.name.endswith(_LOADING_NAMES)), None)
    inference = inference or library_call(code, INFERS)
    if inference is None and _optimizes_a_picture(code):  # what judges it runs all the same
        inference = next(iter(code.calls_named(*_OPTIMIZER_WORDS)), None)
    return (Behavior.INFERS, inference) if inference is not None else (Behavior.NEITHER, None)


def training_calls(code: PythonCode) -> list[Call]:
    """Return all calls of a program that train or make an optimizer, by line."""
    imported = code.imported()
    found = [call for call in code.calls_named(*_TRAINING_WORDS) if is_training_call(call, imported)]
    made = [call for call in code.calls_named(*_OPTIMIZER_WORDS) if _OPTIMIZERS.fullmatch(_full_name(code, call))]
    return sorted([*found, *made], key=lambda call: call.line)


def _full_name(code: PythonCode, call: Call) -> str:
    """Return a call's name with the module that its first word is taken from (``from torch.optim import SGD``)."""
    first = call.name.partition(".")[0]
    module = next((item.module for item in code.imports if first in item.names), "")
    return f"{module}.{call.name}" if module else call.name


def _of_other_code(code: PythonCode) -> Call | None:
    """Return the call that starts another project's training: its main function, or what it calls its trainer."""
    for word in _STARTING_WORDS:
        for call in code.calls_named(word):
            if call.name == "trainer" or _STARTS_TRAINING.fullmatch(_full_name(code, call)):
                return call
    return None


def _only_places(code: PythonCode, call: Call) -> bool:
    """Whether ``deepspeed.initialize`` only spreads a model that is run (ZeRO-Inference): it is given nothing to train with."""
    if call.name != "deepspeed.initialize" or call.arguments or {key for key, _ in call.keywords} - _PLACES:
        return False
    return bool(code.calls_named("generate", "eval")) and not code.calls_named("backward", "step")


def _only_asks(code: PythonCode, call: Call) -> bool:
    """Whether a trainer is made to run a trained network (``trainer.predict(model, data)``) and is told to train nothing."""
    if not _TRAINER.fullmatch(call.last):
        return False
    told = code.calls_named("predict", "test", "validate", "evaluate", "fit", "train", "train_and_evaluate")
    words = {each.last for each in told if "trainer" in each.name.lower()}
    return bool(words) and not words & {"fit", "train", "train_and_evaluate"}


def _only_guides(code: PythonCode, call: Call) -> bool:
    """Whether a gradient only steers what a loaded model writes or draws: nothing here takes a step with it."""
    if call.last not in {"backward", "zero_grad"}:
        return False
    if _optimizes_a_picture(code):
        return True
    if code.calls_named("*step", "*Optimizer", *_OPTIMIZER_WORDS, "minimize"):
        return False
    is_drawn = bool(code.calls_named("from_pretrained")) and bool(code.calls_named(*_INFERENCE_WORDS, "multinomial"))
    # A gradient that is looked at (which pixels a class was seen in): nothing of the file makes or takes a step.
    return is_drawn or (
        call.last == "backward" and any(c.keyword("retain_graph") for c in code.calls_named("backward"))
    )


def _optimizes_a_picture(code: PythonCode) -> bool:
    """Whether all optimizers are given single values and no network's parameters (``Adam([z], lr=0.1)``): these are what is drawn."""
    words = (*_OPTIMIZER_WORDS, *_MORE_OPTIMIZERS)
    made = [call for call in code.calls_named(*words) if _OPTIMIZER_CALL.fullmatch(_full_name(code, call))]
    first = [call.arguments[0] if call.arguments else call.keyword("params") for call in made]
    given = [value.items if value is not None else () for value in first]
    return bool(given) and all(items and all(_is_plain(each.path) for each in items) for items in given)


def _is_plain(path: str | None) -> bool:
    """Whether it is a variable's name, and no part of an object, which may be a network's parameter."""
    return path is not None and "." not in path


def is_training_call(call: Call, imported: frozenset[str]) -> bool:
    """Whether this call trains: a backward pass, a gradient, a trainer, or ``fit`` of a deep-learning library."""
    if call.last in _TRAINING_CALLS or call.name in _TRAINING_NAMES:
        return call.last != "zero_grad" or call.owner != "zero_grad"  # an optimizer's wrapper only hands it on
    if _TRAINER.fullmatch(call.last) or (call.last == "minimize" and imported & _BY_GRAPH):
        return True
    if call.last in _PARTS_OF_TRAINING:
        return bool(_TRAIN_OWNERS.search(call.name.rpartition(".")[0].lower().rpartition(".")[2]))
    if call.last == "training" and "tensorflow" in imported:  # the tutorials' `mnist.training(loss, learning_rate)`
        return len(call.arguments) > 1
    if call.last in {"fit", "learn", "train"} and call.name.count("."):
        owner = call.name.rpartition(".")[0].lower()
        if call.last == "train" and owner.endswith("slim.learning"):  # TF-Slim's loop
            return True
        if call.last == "learn":
            is_agents = bool(imported & {"stable_baselines3", "sb3_contrib"})
            return is_agents or bool(_TRAIN_OWNERS.search(owner.rpartition(".")[2]) or call.keyword(*_LEARNS_FOR))
        if call.last == "fit":
            # Estimators of classical learning know no epochs: a network is fitted, whoever wrapped it.
            if call.keyword("epochs", "nb_epoch", "n_epochs") is not None:
                return not NO_NETWORK.search(owner.rpartition(".")[2])
            is_deep = bool(imported & _FIT_OWNERS) and not NO_NETWORK.search(owner.rpartition(".")[2])
            return is_deep and ("sklearn" not in imported or "autokeras" in imported or _is_network(owner, imported))
        # A network is only put into that state, and takes no more than a word for it.
        is_told = bool(call.spread) or call.keyword("data", "epochs", "cfg", "imgsz", "batch") is not None
        is_fit = call.last == "train" and "ultralytics" in imported and is_told
        return is_fit or bool(_TRAIN_OWNERS.search(owner.rpartition(".")[2]))
    return False


def _is_network(owner: str, imported: frozenset[str]) -> bool:
    """Whether a name beside scikit-learn, whose estimators are fitted too, stands for a network or its trainer."""
    return (
        "trainer" in owner
        or "brain" in owner
        or bool(imported & {"tensorflow", "keras"} and regex(r"model|net|learner").search(owner))
    )


def _is_inference_call(call: Call) -> bool:
    if call.last not in _INFERENCE_CALLS:
        return False
    # `random.sample`, `np.random.choice`, `df.sample` draw; a sampler or a model samples.
    if call.last == "sample":
        return bool(regex(r"model|sampler|diffusion|net|pipe").search(call.name.rpartition(".")[0].lower()))
    return call.last not in {"inference", "predict"} or "." in call.name


def top_level_gpu_import(source: Source) -> tuple[str, int] | None:
    """Return the first GPU library that a file imports whatever happens, with its line."""
    if source.code is None or not may_use_gpu(source):
        return None
    found = (item for item in source.code.imports if not item.is_optional and not _is_namesake(item))
    return next(
        (
            (item.module, item.line)
            for item in found
            if item.module.split(".")[0] in GPU_MODULES or brought_by(item.module, item.names) in source.code.imported()
        ),
        None,
    )


@remembered
def may_use_gpu(source: Source) -> bool:
    """Whether a file may import a GPU library: a look at the lines of its imports, where most of a large checkout's name none."""
    return source.code is not None and source.code.may_import_any(_GPU_WORDS)


def _is_namesake(item: Import) -> bool:
    """Whether `lightning` is scikit-learn's, of linear models, and not PyTorch's."""
    top, _, part = item.module.partition(".")
    return top == "lightning" and bool({part.partition(".")[0], *item.names} & _OF_LINEAR_MODELS)


_OF_LINEAR_MODELS = frozenset({"impl", "classification", "regression", "ranking"})
