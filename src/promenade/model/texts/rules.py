"""The words of rule types, in every language: their names, what they are good for, and the sentence of a rule.

A sentence is a template, or several of which the first applies whose parts are all known: ``{test}`` becomes "is GOLD
or SILVER". The parts of a language's sentences are worded by the editor (``rules/Sentences.js``), those of a summary by
`condition_sentences`. The words of conditions are in `texts.conditions`, those of benefits in `texts.benefits`; a
rule type itself is a class under ``@condition`` or ``@benefit`` in the engine.
"""

from __future__ import annotations

from dataclasses import dataclass

LANGUAGES = ("en", "de")

Sentences = str | tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RuleTexts:
    """The texts of a rule type in one language.

    The editor uses ``name``, ``help`` and ``says``; for a condition about sale lines ``says`` names only the lines.
    ``code`` is the name in the code list; empty: same as ``name``.
    """

    name: str
    help: str
    says: Sentences
    code: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleWords:
    """The texts of a rule type.

    ``description`` and ``code`` are for the code list; empty ``code``: derived from the code. ``summary`` is the
    sentence that the service returns as ``parameterSummary``; empty: the English one of the editor.
    """

    description: str
    en: RuleTexts
    de: RuleTexts
    code: str = ""
    summary: Sentences = ()

    def of(self, language: str) -> RuleTexts:
        """Return the texts in one of LANGUAGES."""
        return self.de if language == "de" else self.en
