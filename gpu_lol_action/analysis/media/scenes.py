"""Scenes that are learned from pictures: points that a step follows along its rays, and Gaussians.

NeRF (Mildenhall et al. 2020): each ray is followed at ``N_samples`` points by one network and at these and ``N_importance`` more
by another. 3D Gaussian Splatting (Kerbl et al. 2023): 59 numbers for each of up to six million Gaussians; the paper's section 7.4
has a peak over 20 GB for large scenes, what its pictures, sorted tiles and the copies of densification take besides.
"""

from __future__ import annotations

from collections.abc import Sequence

from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.analysis.runs.settings import Scope, as_number, look_up_number
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding

_RAYS = ("n_rand", "num_rays", "n_rays", "batch_rays", "ray_batch_size", "num_rays_per_batch", "train_num_rays")
SAMPLES = (
    "n_samples",
    "num_samples",
    "num_samples_per_ray",
    "n_coarse",
    "num_coarse_samples",
    "num_coarse",
    "coarse_samples",
    "num_nerf_samples",
)
_MORE = ("n_importance", "n_fine", "num_fine_samples", "num_fine", "fine_samples", "num_prop_samples")
LEAST_OF_RAYS, LEAST_RAYS = 3, 512
MOST_POINTS = 2**24
VIEWS, _FOLLOWED = "media.views", "each followed at"
_RASTERIZERS = frozenset(
    {"diff_gaussian_rasterization", "gsplat", "diff_surfel_rasterization", "diff_gauss", "simple_knn"}
)
GAUSSIANS, NUMBERS_EACH = 6_000_000, 59
BESIDES = 2_600_000_000  # numbers of 32 bit: 20 GB less weights, gradients and Adam's states


def points_findings(scope: Scope, sources: Sequence[Source] = ()) -> list[Finding]:
    """Return the batch of a network that is asked point by point: rays times samples along each; nothing where there are no rays.

    A batch of thousands is of rays where several of the run's ``sources`` speak of them.
    """
    rays, samples = look_up_number(scope, _RAYS, 16, 2**20), look_up_number(scope, SAMPLES, 4, 4096)
    is_batch = rays is None and sum(source.mentions("rays") for source in sources) >= LEAST_OF_RAYS
    rays = look_up_number(scope, ("batch_size",), LEAST_RAYS, 2**20) if is_batch else rays
    if rays is None or samples is None:
        return []
    more = look_up_number(scope, _MORE, 1, 4096)
    along = as_number(samples.text) or 1
    along += along + (as_number(more.text) or 0) if more is not None else 0
    count = as_number(rays.text) or 1
    points = min(count * along, MOST_POINTS)
    why = f"`{rays.setting.key}` is {rays.text}, {_FOLLOWED} {along} points"
    batch = Finding("training.batch_size", str(count if is_batch else points), why, rays.confidence, rays.evidence)
    each = Finding(VIEWS, str(max(1, points // count)), why, rays.confidence, rays.evidence)
    return [batch, each] if is_batch else [batch]


def each_ray_once(found: list[Finding], scope: Scope) -> list[Finding]:
    """Return findings without the points along a ray where the network that was followed takes whole rays and makes these points itself."""
    samples = look_up_number(scope, SAMPLES, 4, 4096)
    own = next((finding.value for finding in found if finding.field == "media.own_network"), "")
    if samples is None or not own or samples.setting.owner.partition(".")[0] != own:
        return found
    return [finding for finding in found if finding.field != VIEWS or _FOLLOWED not in finding.why]


def gaussian_findings(sources: Sequence[Source]) -> list[Finding]:
    """Return the Gaussians of a program that renders them with gradients; none for any other."""
    for source in sources:
        for item in source.code.imports if source.code is not None else ():
            if item.module.split(".")[0] in _RASTERIZERS:
                where = Evidence(source.path, item.line)
                why = f"`{item.module.split('.')[0]}` renders Gaussians: {GAUSSIANS:,} of {NUMBERS_EACH} numbers in a large scene"
                values = (("own_network", "3D Gaussians"), ("own_parameters", str(GAUSSIANS * NUMBERS_EACH)),
                          ("own_outputs", str(BESIDES)), ("own_at_work", str(BESIDES // 10)))  # fmt: skip
                size = Finding("training.batch_size", "1", "a step renders one picture", Confidence.MEDIUM, where)
                return [
                    size,
                    *(Finding(f"media.{name}", value, why, Confidence.MEDIUM, where) for name, value in values),
                ]
    return []
