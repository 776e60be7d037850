

def test_beside_a_stand_in_for_torch_what_needs_the_rest_of_it_is_named_and_not_failed() -> None:
    facts = {"found": {"peft": {"version": "0.21.2", "is_imported": False, "import_error": "no name 'nn' in 'torch'"}}}
    beside = judge(facts, ["peft"], (3, 11), is_torch_stand_in=True).checks[0]
    assert beside.status is CheckStatus.PASSED
    assert beside.is_stand_in
    assert "peft" in beside.sentence
    real = judge(facts, ["peft"], (3, 11)).checks[0]
    assert real.status is CheckStatus.FAILED
