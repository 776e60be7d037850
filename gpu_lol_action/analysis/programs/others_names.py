"""What names tell of a value: that it is of a judge, a teacher, a test or a tokenizer beside the run's own, or one of its options."""

from __future__ import annotations

import re

from gpu_lol_action.domain.patterns import regex

HOLDS_OPTIONS = regex(
    r"(?:\w{0,20}_)?(?:args|opts?|options|flags|cfg|conf|config|configs|hparams|hps?|params|settings)", re.IGNORECASE
)
TRIES = regex(r"_?(?:tests?|overfit|sanity|demo|check)(?:_.{0,60})?", re.IGNORECASE)
# What judges a training, and models beside the one that learns.
BESIDE = regex(
    r"(?:^|[._])(?:val|valid|validation|validate|tests?|tst|eval|evaluation|evaluate|dev|teacher|critic|judge|reward|scor(?:er|ing)|draft)"
    r"(?:model)?(?:$|[._])",
    re.IGNORECASE,
)
JUDGES = regex(
    r"(?:test|eval(?:uat(?:e|ion|or))?|validat(?:e|ion)|val|inference|infer|predict|demo|visuali[sz]e)\w{0,4}\.py"
)
"""Modules that a training calls now and then to see how far it has come."""
SPLITS = regex(r"[Tt]okeni[sz]er?\b")
