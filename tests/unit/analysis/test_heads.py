"""A few layers put on a network that the same program builds."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import Checkout

Build = Callable[[Mapping[str, str]], Checkout]
KERAS = """from keras.applications.resnet50 import ResNet50
from keras.layers import Dense, Dropout, Flatten, Input
from keras.models import Model
from keras.optimizers import SGD

base_model = ResNet50(weights="imagenet", include_top=False, input_tensor=Input(shape=(224, 224, 3)))
x = base_model.output
x = Flatten(name="flatten")(x)
x = Dropout(0.5)(x)
x = Dense(702, activation="softmax")(x)
net = Model(input=base_model.input, output=x)
net.compile(optimizer=SGD(lr=0.001), loss="categorical_crossentropy")
net.fit_generator(flow(images, labels, batch_size=16), epochs=40)
"""


def test_the_network_counts_that_a_head_is_put_on(checkout: Build) -> None:
    analysis = analyze(checkout({"train.py": KERAS, "requirements.txt": "keras\ntensorflow\n"}))
    assert analysis.breakdown is not None
    assert "resnet50" in next(term.basis for term in analysis.breakdown.terms if term.name == "weights")


def test_layers_of_another_file_are_a_network_of_their_own(checkout: Build) -> None:
    other = (
        "from keras.applications.resnet50 import ResNet50\n\ndef judge():\n    return ResNet50(weights='imagenet')\n"
    )
    own = """from keras.layers import Conv2D, Dense, Flatten
from keras.models import Sequential
from judges import judge

net = Sequential([Conv2D(64, 3, input_shape=(64, 64, 3)), Conv2D(64, 3), Flatten(), Dense(10)])
net.compile(optimizer="adam", loss="categorical_crossentropy")
net.fit(images, labels, batch_size=16)
"""
    files = {"train.py": own, "judges.py": other, "requirements.txt": "keras\ntensorflow\n"}
    analysis = analyze(checkout(files))
    assert analysis.breakdown is not None
    assert "resnet50" not in next(term.basis for term in analysis.breakdown.terms if term.name == "activations")
