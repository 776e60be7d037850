"""Agents: networks that are built for an environment's spaces, and networks without ``forward``, on small repositories of ours."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import Checkout

Build = Callable[[Mapping[str, str]], Checkout]
STEP = "\nnet = net.cuda()\nopt = torch.optim.Adam(net.parameters())\nloss.backward()\nopt.step()\n"
HEAD = "import gym\nimport numpy as np\nimport torch\nimport torch.nn as nn\n"
ACTOR = """
class Actor(nn.Module):
    def __init__(self, inner, outer, width=256):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(inner, width), nn.ReLU(), nn.Linear(width, outer))

    def forward(self, state):
        return self.net(state)
"""


def found(checkout: Build, code: str) -> dict[str, str]:
    analysis = analyze(checkout({"train.py": HEAD + code + STEP}))
    known = {finding.field: finding.value for finding in reversed(analysis.findings)}
    assert analysis.breakdown is not None
    return {**known, "needs": f"{analysis.breakdown.required_gib:.0f}"}


@pytest.mark.parametrize(
    "built",
    [
        "env = gym.make('Humanoid-v4')\nnet = Actor(env.observation_space.shape[0], env.action_space.shape[0])",
        "envs = gym.vector.SyncVectorEnv([make])\nnet = Actor(np.array(envs.single_observation_space.shape).prod(), int(np.prod(envs.single_action_space.shape)))",
        "env = suite.load('humanoid', 'run')\nnet = Actor(env.observation_spec().shape[0], env.action_spec().shape[0])",
        (
            "class Base:\n    def __init__(self, observation_space, action_space):\n        self.observation_space = observation_space\n"
            "        self.action_space = action_space\n\nclass Envs(Base):\n    def __init__(self, remotes):\n"
            "        first, second = remotes[0].recv()\n        Base.__init__(self, first, second)\n\nenvs = Envs(start())\n"
            "net = Actor(envs.observation_space.shape[0], envs.action_space.shape[0])"
        ),
        "class Wrapper:\n    def __init__(self, env):\n        self.env = env\n\nenv = Wrapper(gym.make('Ant-v4'))\nnet = Actor(env.observation_space.shape[0], env.action_space.shape[-1])",
    ],
)
def test_an_agent_is_built_for_the_spaces_of_its_environment(checkout: Build, built: str) -> None:
    known = found(checkout, f"{ACTOR}\n{built}\n")
    assert known["media.own_parameters"] == str(376 * 256 + 256 + 256 * 17 + 17)
    assert int(known["needs"]) < 4


def test_an_agent_of_flax_is_built_from_what_spaces_give(checkout: Build) -> None:
    code = (
        "import flax.linen as fnn\nfrom absl import app, flags\nFLAGS = flags.FLAGS\nflags.DEFINE_string('config', 'configs/sac.py', 'File')\n"
        "class Policy(fnn.Module):\n    hidden: int\n    actions: int\n\n    @fnn.compact\n    def __call__(self, x):\n"
        "        return fnn.Dense(self.actions)(fnn.Dense(self.hidden)(x))\n\n"
        "class Learner:\n    def __init__(self, seed, observations, actions, hidden=64):\n"
        "        self.net = Policy(hidden, actions.shape[-1])\n\n"
        "def main(_):\n    kwargs = dict(FLAGS.config)\n    algo = kwargs.pop('algo')\n    env = gym.make('Ant-v4')\n    if algo == 'sac':\n"
        "        agent = Learner(0, env.observation_space.sample()[np.newaxis], env.action_space.sample()[np.newaxis], **kwargs)\n"
        "    else:\n        raise NotImplementedError\n\nnet = app.run(main)\n"
    )
    # What goes in is only known as it runs: as much as comes out of the first layer.
    assert found(checkout, code)["media.own_parameters"] == str(64 * 64 + 64 + 64 * 17 + 17)


def test_pictures_are_seen_by_those_who_play_from_the_screen(checkout: Build) -> None:
    code = (
        "class Net(nn.Module):\n    def __init__(self, space, choices):\n        super().__init__()\n"
        "        self.conv = nn.Conv2d(space.shape[0], 32, 8, stride=4)\n        self.head = nn.Linear(32 * 20 * 20, choices)\n\n"
        "    def forward(self, x):\n        return self.head(self.conv(x / 255.0).flatten(1))\n\n"
        "env = gym.make('BreakoutNoFrameskip-v4')\nnet = Net(env.observation_space, env.action_space.n)\n"
    )
    known = found(checkout, code)
    assert known["media.own_parameters"] == str(4 * 32 * 64 + 32 + 12_800 * 18 + 18)


def test_a_network_without_forward_is_entered_by_the_method_that_keeps_most(checkout: Build) -> None:
    code = (
        "class Agent(nn.Module):\n    def __init__(self, envs):\n        super().__init__()\n"
        "        inner = envs.observation_space.shape[0]\n"
        "        self.critic = nn.Sequential(nn.Linear(inner, 64), nn.Tanh(), nn.Linear(64, 1))\n"
        "        self.actor = nn.Sequential(nn.Linear(inner, 64), nn.Tanh(), nn.Linear(64, envs.action_space.n))\n\n"
        "    def get_value(self, x):\n        return self.critic(x)\n\n"
        "    def get_action_and_value(self, x, action=None):\n        return self.actor(x), self.critic(x)\n\n"
        "net = Agent(gym.make('CartPole-v1'))\n"
    )
    known = found(checkout, code)
    assert known["media.own_parameters"] == str(2 * (376 * 64 + 64) + 64 + 1 + 64 * 18 + 18)
    assert known["media.own_outputs"] == str(2 * (64 + 64) + 1 + 18)


def test_an_agent_of_a_library_whose_policy_a_table_names_is_small(checkout: Build) -> None:
    code = "from stable_baselines3 import PPO\n\nparams = load(path)\nnet = PPO(env=gym.make('CartPole-v1'), **params)\nnet.learn(1000)\n"
    known = found(checkout, code)
    assert known["media.own_network"] == "CnnPolicy"
    assert int(known["needs"]) < 4


def test_a_batch_of_a_program_that_follows_rays_is_of_points(checkout: Build) -> None:
    tree = checkout(
        {
            "train.py": HEAD
            + "from scene import sample_rays\nfrom render import along_rays\n\nbatch_size = 4096\nnum_nerf_samples = 32\n"
            "net = nn.Linear(3, 8).cuda()  # asked along rays\n" + STEP,
            "scene.py": "def sample_rays():\n    pass\n",
            "render.py": "def along_rays():\n    pass\n",
        }
    )
    known = {finding.field: finding.value for finding in reversed(analyze(tree).findings)}
    assert (known["training.batch_size"], known["media.views"]) == ("4096", "32")


@pytest.mark.parametrize(
    "code",
    [
        "from torch_geometric.nn import GCNConv\n\ndata = load()\nnet = GCNConv(data.num_features, 16)\n",
        (
            "class GraphConvolution(nn.Module):\n    def __init__(self, inner, outer):\n        super().__init__()\n"
            "        self.weight = nn.Parameter(torch.FloatTensor(inner, outer))\n\n"
            "adj, features = load_data()\nnet = GraphConvolution(features.shape[1], 16)\n"
        ),
    ],
)
def test_a_network_of_graphs_whose_data_tell_its_size_is_small(checkout: Build, code: str) -> None:
    known = found(checkout, code)
    assert known["media.own_network"] == "graph network"
    assert int(known["needs"]) < 4


RAYS = (
    "import jax\nimport jax.numpy as jnp\nimport flax.linen as fnn\n\nclass Points(fnn.Module):\n    @fnn.compact\n    def __call__(self, x):\n"
    "        return fnn.Dense(4)(fnn.Dense(256)(x))\n\n"
    "class Renderer(fnn.Module):\n    {name}: int = 128\n\n    @fnn.compact\n    def __call__(self, rays):\n"
    "        points = jnp.zeros((rays.shape[0], self.{name}, 3))\n        return Points()(points)\n\n"
)


@pytest.mark.parametrize(("built", "views"), [("Renderer()", None), ("Points()", "128")])
def test_a_network_that_takes_whole_rays_makes_its_points_itself(
    checkout: Build, built: str, views: str | None
) -> None:
    code = (
        RAYS.format(name="num_samples")
        + f"batch_size = 4096\nnet = {built}  # along rays\ngrads = jax.grad(loss)(params)\n"
    )
    code += "import optax\noptimizer = optax.adam(1e-3)\nupdates = optimizer.update(grads, state)\n"
    tree = checkout(
        {
            "train.py": code + "from scene import rays\nfrom render import rays_of\n",
            "scene.py": "rays = 1  # rays\n",
            "render.py": "rays_of = 1  # rays\n",
        }
    )
    known = {finding.field: finding.value for finding in reversed(analyze(tree).findings)}
    assert (known["training.batch_size"], known.get("media.views")) == ("4096", views)
