"""Why a table is empty."""

import pandas as pd

from voirdire.bias import explain_absent


def test_a_full_study_lacks_nothing(random_table):
    frame = random_table(0, models=("ann", "bob", "cas")).assign(response_chars=120)
    frame = frame.assign(template="default", label=None)
    more = [
        frame.assign(condition="elite", label="elite"),
        frame.assign(condition="reason", template="reason"),
        frame.assign(trial=1),
    ]
    families = {"ann": "x", "bob": "x", "cas": "y"}
    assert explain_absent(pd.concat([frame, *more], ignore_index=True), families=families) == {}


def test_no_family_of_two_is_said(random_table):
    frame = random_table(0, models=("ann", "bob", "cas"))

    def said(families):
        return explain_absent(frame, families=families).get("family_preference")

    assert said(None).startswith("No judge has judged another of its family, so")
    assert said({"ann": "x", "bob": "y"}) == said(None)
    assert said(dict.fromkeys(("ann", "bob", "cas"), "x")).startswith("No judge has judged a model of another family")
    assert said({"ann": "x", "bob": "x"}) is None
    # A model that no family is known of is alone, whatever it is called.
    assert said({"ann": "cas"}) == said(None)


def test_one_template_and_one_trial_are_said(random_table):
    absent = explain_absent(random_table(0))
    assert "one template only" in absent["ablation_template"]
    assert "asked for once" in absent["trial_agreement"]


def test_no_model_in_both_roles_is_said(random_table):
    frame = random_table(0)
    frame = frame[frame["judge"].isin(["ann", "bob"]) & frame["examinee"].isin(["cas", "dee"])]
    absent = explain_absent(frame)
    assert absent["self_preference"].startswith("No model is both judge and examinee, so")
    assert "3 of them, and there are 2" in absent["table08_judge_accuracy_bias"]
    assert {"table06_task_accuracy_judge_accuracy", "table07_task_accuracy_bias", "difficulty_curve"} <= set(absent)
    assert absent["ablation_difficulty"] == absent["difficulty_curve"]


def test_no_label_is_said(random_table):
    assert "no condition with an identity label" in explain_absent(random_table(0))["ablation_identity"]


def test_labels_of_a_main_condition_with_its_own_template_are_known(random_table):
    frame = random_table(0, models=("ann", "bob", "cas")).assign(condition="reason", template="reason")
    own = frame.assign(condition="reason-elite", label="elite")
    other = own.assign(condition="elite", template="default")
    assert "ablation_identity" not in explain_absent(pd.concat([frame, own], ignore_index=True), "reason")
    absent = explain_absent(pd.concat([frame, other], ignore_index=True), "reason")
    assert "no condition with an identity label" in absent["ablation_identity"]
    assert "no condition 'blind'" in explain_absent(own, "blind")["ablation_identity"]


def test_no_usable_verdict_is_said(table):
    absent = explain_absent(table(verdict=[None], truth=[True], status=["error"]))
    assert "none has status ok" in absent["rates"]


def test_no_wrong_response_is_said(table):
    assert "No wrong response" in explain_absent(table(verdict=[True], truth=[True]))["ablation_length"]
