"""The simulated panel as models that are called: behind an HTTP server, or as a provider of litellm's.

A model that is called sees its prompt and nothing else, so what each persona writes to each of the study's prompts is
worked out beforehand, with the panel's and the study's own functions.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from fault_server import FaultServer
from wire_formats import Reply

from voirdire.benchmarks import Item
from voirdire.benchmarks.loading import load
from voirdire.judging import examinee_prompt, judge_prompt
from voirdire.simulated import Persona, judge, respond
from voirdire.study.prompts import read_prompt
from voirdire.study.study import Study

# By (model, prompt).
Texts = Mapping[tuple[str, str], str]


def panel_texts(study: Study, folder: str | Path = ".") -> Texts:
    """What the personas of a study write to its prompts, under the names of its models.

    folder: where the study's paths start.
    """
    if study.config.trials > 1:
        raise ValueError("a prompt doesn't tell the trial, so a model that is called can't answer as the panel would")
    texts = _Texts()
    for task in study.matrix.tasks:
        items = load(task, study.source(task), study.config.seed).items
        template = read_prompt(str(Path(folder, study.examinee_prompt(task))))
        responses = {}
        for name in study.matrix.examinees:
            answers = respond(_persona(study, name), items, study.config.seed)
            responses[name] = answers
            for item, answer in zip(items, answers, strict=True):
                texts.add(name, examinee_prompt(template, item), answer.text)
        for condition, of_task, judging, judged in study.matrix.judgements:
            if of_task == task:
                template = read_prompt(str(Path(folder, study.judge_prompt(condition, task))))
                _add_verdicts(texts, study, condition, judging, judged, items, responses[judged], template)
    return texts.by_prompt


def _add_verdicts(
    texts: "_Texts",
    study: Study,
    condition: str,
    judging: str,
    judged: str,
    items: Sequence[Item],
    responses: Sequence[Any],
    template: str,
) -> None:
    chosen, seed = study.conditions[condition], study.config.seed
    said = [response.text for response in responses]
    right = [response.right for response in responses]
    verdicts = judge(
        _persona(study, judging), items, said, right, _persona(study, judged), chosen.label, chosen.template, 0, seed
    )
    for item, response, verdict in zip(items, said, verdicts, strict=True):
        prompt = judge_prompt(template, item, response, study.shown(chosen.label, judged), seed)
        texts.add(judging, prompt, verdict)


class _Texts:
    def __init__(self) -> None:
        self.by_prompt: dict[tuple[str, str], str] = {}

    def add(self, model: str, prompt: str, text: str) -> None:
        if self.by_prompt.setdefault((model, prompt), text) != text:
            raise ValueError(f"{model} would answer one prompt in two ways: {prompt[:200]}")


def _persona(study: Study, name: str) -> Persona:
    model = study.model(name)
    return Persona.from_dict({**study.config.personas[model.persona], "name": name, "family": model.family}, name)


def panel_server(texts: Texts) -> FaultServer:
    """The panel behind HTTP: `openai/NAME` at the server's url; a prompt that is not the study's is an error."""

    def reply(model: str, prompt: str) -> Reply:
        if (model, prompt) not in texts:
            return Reply(status=400, body={"error": {"message": f"{model} has not met this prompt", "code": "unknown"}})
        return Reply(texts[model, prompt])

    return FaultServer(by_model=reply)


def called(config: Mapping[str, Any], url: str) -> dict[str, Any]:
    """The configuration with each simulated model in use replaced by one that is called at `url`."""
    used = {*config["examinees"], *config["judges"]}
    models = {
        name: {**entry, "model": f"openai/{name}", "endpoint": {"api_base": url}} if name in used else entry
        for name, entry in config["models"].items()
    }
    return {**config, "models": models}


def panel_provider(litellm: ModuleType, texts: Texts) -> Any:
    """The panel as a provider of litellm's, for `litellm.custom_provider_map`."""

    class Panel(litellm.CustomLLM):
        async def acompletion(self, model: str, messages: Sequence[Any], **arguments: Any) -> Any:
            message = {"role": "assistant", "content": texts[model, messages[-1]["content"]]}
            return litellm.ModelResponse(
                model=model, choices=[{"index": 0, "message": message, "finish_reason": "stop"}]
            )

    return Panel()
