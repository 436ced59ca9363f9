"""Sends the questions and judges the answers."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import httpx2

from tests.reliability.tenants.asking import ROOTS, Question
from tests.reliability.tenants.canaries import canaries_in, unknown

__all__ = ["Asking", "Leak"]

AT_ONCE = 25  # questions in one batch
TRIES = 3  # a busy machine may time out a query that is usually fast
# Differences between any two answers: new IDs, times, and the number of identical requests.
_CHANGING = (
    (re.compile(r"(?!cafeba1)[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"), "ID"),
    (re.compile(r"202\d-\d\d-\d\dT\d\d:\d\d:\d\d[.\d]*Z"), "NOW"),
    (re.compile(r'(?<="transactionCounter":)\d{1,3}\b'), "COUNTER"),
)


@dataclass(frozen=True, slots=True)
class Leak:
    """An answer that revealed something."""

    question: Question
    status: int
    seen: frozenset[str]
    answer: str

    def __str__(self) -> str:
        asked = f"{self.question.method} {self.question.path} {self.question.body}"
        return f"{asked}: {self.status} {set(self.seen)} {self.answer[:600]}"


@dataclass(frozen=True, slots=True)
class _Answer:
    status: int
    text: str


class Asking:
    """The asking tenant's client and statistics of its requests."""

    def __init__(self, url: str, client: str, secret: str) -> None:
        self._http = httpx2.Client(base_url=url, timeout=60)
        form = {"grant_type": "client_credentials", "client_id": client, "client_secret": secret}
        token = self._http.post("/oauth/token", data=form).json()["access_token"]
        self._headers = {"authorization": f"Bearer {token}"}
        self.statuses: Counter[int] = Counter()

    def ask(self, questions: Sequence[Question]) -> list[Leak]:
        """Return all leaks. Reads of OData services are sent in concurrent batches; all other questions
        individually.
        """
        batches: list[list[Question]] = []
        for root in ROOTS.values():
            reading = [one for one in questions if one.is_read_of(root)]
            batches += [reading[start : start + AT_ONCE] for start in range(0, len(reading), AT_ONCE)]
        in_batches = {one.path for batch in batches for one in batch}
        alone = [[one] for one in questions if one.method != "GET" or one.path not in in_batches]
        with ThreadPoolExecutor(3) as threads:
            found = [*threads.map(self._leaks, batches)]
        return [leak for leaks in (*found, *map(self._leaks, alone)) for leak in leaks]

    def _leaks(self, questions: Sequence[Question]) -> list[Leak]:
        # only answers to requests sent in the same way are compared
        answers = self._batched if len(questions) > 1 else self._alone
        for _ in range(TRIES):
            pairs = zip(questions, self._answers(questions, answers), strict=True)
            named = [one for one in questions if canaries_in(one.whole)]
            nothing = dict(zip(named, self._answers([_of_nothing(one) for one in named], answers), strict=True))
            leaks = [leak for one, answer in pairs if (leak := _judged(one, answer, nothing.get(one))) is not None]
            if not leaks:
                break
        return leaks

    def _answers(
        self, questions: Sequence[Question], answers: Callable[[Sequence[Question]], Iterator[_Answer]]
    ) -> list[_Answer]:
        if not questions:
            return []
        found = list(answers(questions))
        self.statuses.update(one.status for one in found)
        return found

    def _alone(self, questions: Sequence[Question]) -> Iterator[_Answer]:
        for one in questions:
            headers = self._headers | ({"content-type": "application/json"} if one.body is not None else {})
            answer = self._http.request(one.method, one.path, content=one.text, headers=headers)
            yield _Answer(answer.status_code, answer.text)

    def _batched(self, questions: Sequence[Question]) -> Iterator[_Answer]:
        root = next(root for root in ROOTS.values() if questions[0].is_read_of(root))
        asked = [
            {"id": str(number), "method": "get", "url": one.path.removeprefix(f"{root}/")}
            for number, one in enumerate(questions)
        ]
        answer = self._http.post(f"{root}/$batch", json={"requests": asked}, headers=self._headers)
        assert answer.status_code == 200, answer.text
        for one in sorted(answer.json()["responses"], key=lambda part: int(part["id"])):
            yield _Answer(one["status"], json.dumps(one.get("body"), ensure_ascii=False, separators=(",", ":")))

    def close(self) -> None:
        """Let go of the connections."""
        self._http.close()


def _of_nothing(question: Question) -> Question:
    text = question.text
    asked = text.decode() if isinstance(text, bytes) else text
    return Question(question.method, unknown(question.path), None if asked is None else unknown(asked))


def _judged(question: Question, answer: _Answer, nothing: _Answer | None) -> Leak | None:
    """Return the leak, or None if the answer reveals nothing of the other tenant, not even that an object is its
    own.
    """
    seen = frozenset(canaries_in(answer.text))
    if nothing is None:
        return Leak(question, answer.status, seen, answer.text) if seen else None
    if answer.status == nothing.status and _plain(unknown(answer.text)) == _plain(nothing.text):
        return None
    return Leak(question, answer.status, seen, f"{answer.text}\n--- but of nothing {nothing.text}")


def _plain(text: str) -> str:
    """Return an answer without the parts that differ between any two."""
    for pattern, name in _CHANGING:
        text = pattern.sub(name, text)
    return text
