"""Settings of a connection: prices and options of questions, and PostgreSQL's own that clients set and show.

A question is asked with what `SET discreet.…` has said; a hint in its text (`/*+ discreet epsilon=0.1 */`) comes before
that. Settings of PostgreSQL change nothing here: they are kept, so that clients find what they have set.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from discreet.core import InvalidInput
from discreet.core.untrusted_text import read_fraction
from discreet.service.postgres.refusals import BAD_PARAMETER, NO_SETTING, READ_ONLY_SETTING, SqlRefusal
from discreet.service.words import Asked

#: What comes before the names of our own settings.
OURS = "discreet."
#: Prices: exactly one of them is set, and setting one clears the others.
PRICES = ("epsilon", "rho", "within")
#: What is shown and not set.
READ_ONLY_NAMES = ("left", "account")
#: Settings of PostgreSQL that clients are told at the start, and whenever they change.
REPORTED = {
    "server_version": "15.0",
    "server_encoding": "UTF8",
    "client_encoding": "UTF8",
    "application_name": "",
    "is_superuser": "off",
    "session_authorization": "",
    "DateStyle": "ISO, MDY",
    "IntervalStyle": "postgres",
    "TimeZone": "UTC",
    "integer_datetimes": "on",
    "standard_conforming_strings": "on",
    "default_transaction_read_only": "on",
    "in_hot_standby": "off",
}
#: Others that are shown before anybody has set them.
OTHERS = {
    "server_version_num": "150000",
    "transaction_isolation": "read committed",
    "default_transaction_isolation": "read committed",
    "transaction_read_only": "on",
    "search_path": '"$user", public',
    "client_min_messages": "notice",
    "extra_float_digits": "1",
    "bytea_output": "hex",
    "statement_timeout": "0",
    "lock_timeout": "0",
    "max_identifier_length": "63",
    "max_index_keys": "32",
    "lc_collate": "C",
    "lc_ctype": "C",
    "row_security": "on",
    "ssl": "off",
    "session_replication_role": "origin",
}
#: Settings that say what the server is: nobody changes them.
FIXED = (
    *("server_version", "server_encoding", "is_superuser", "session_authorization", "integer_datetimes"),
    *(
        "in_hot_standby",
        "server_version_num",
        "max_identifier_length",
        "max_index_keys",
        "lc_collate",
        "lc_ctype",
        "ssl",
    ),
)
#: A setting of PostgreSQL that a client may name, how many of them are kept, and how long they may be.
NAME = re.compile(r"[a-z_][a-z0-9_]*(?:\.[a-z_][a-z0-9_]*)*", re.ASCII)
MOST_KEPT, LONGEST = 200, 1000
TRUE, FALSE = ("on", "true", "yes", "1"), ("off", "false", "no", "0")


def is_true(text: str, name: str) -> bool:
    """Return what a switch says."""
    if text.lower() in (*TRUE, *FALSE):
        return text.lower() in TRUE
    raise _refuse_value(name, "write on or off")


def _refuse_value(name: str, fix: str) -> SqlRefusal:
    return SqlRefusal.coded(BAD_PARAMETER, f"The value of {name} cannot be read.", fix)


def _amount(text: str, name: str) -> str:
    try:
        read_fraction(text)
    except InvalidInput:
        raise _refuse_value(name, f"write a number, such as SET {name} = 0.1; or '1/10'") from None
    return text


def _within(text: str, name: str) -> str | dict[str, str]:
    if "=" not in text:
        return _amount(text, name)
    pairs = [part.rpartition("=") for part in text.split(",")]
    return {column.strip(): _amount(amount.strip(), name) for column, _, amount in pairs}


def _whole(text: str, name: str) -> int:
    if re.fullmatch(r"[0-9]{1,18}", text, re.ASCII):
        return int(text)
    raise _refuse_value(name, "write a whole number")


def _numbers(text: str, name: str) -> dict[str, int]:
    pairs = [part.partition("=") for part in text.split(",")]
    return {word.strip(): _whole(number.strip(), name) for word, _, number in pairs}


def _request(text: str, _name: str) -> str | None:
    return text or None


#: How the value of each of our settings is read, and what it says before it is set.
READERS: Mapping[str, tuple[Callable[[str, str], Any], str]] = {
    "epsilon": (_amount, ""),
    "rho": (_amount, ""),
    "within": (_within, ""),
    "confidence": (_amount, "0.95"),
    "simultaneous": (is_true, "off"),
    "size": (_whole, ""),
    "limit": (_numbers, ""),
    "bias": (is_true, "off"),
    "matches": (_numbers, ""),
    "request": (_request, ""),
    "fresh": (is_true, "off"),
    "pay": (is_true, "on"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionSettings:
    """What a connection has set, as texts: our own by their names without `discreet.`, and PostgreSQL's."""

    ours: Mapping[str, str]
    theirs: Mapping[str, str]
    #: What RESET returns to: what the connection began with.
    initial: "ConnectionSettings | None" = None

    @property
    def start(self) -> "ConnectionSettings":
        """The settings that the connection began with."""
        return self.initial or self

    @property
    def has_price(self) -> bool:
        """Whether questions are asked at a price."""
        return any(self.ours.get(name) for name in PRICES)

    @property
    def shows_notices(self) -> bool:
        """Whether the client wants to see notices."""
        return self.find("client_min_messages").lower() not in ("warning", "error", "fatal", "panic")

    def find(self, name: str) -> str:
        """Return what a setting says, or refuse one that is not known."""
        if name.startswith(OURS):
            own = name.removeprefix(OURS)
            if own in READERS:
                return self.ours.get(own, READERS[own][1])
            raise refuse_unknown(name)
        known = {**_lowered(OTHERS), **_lowered(REPORTED), **self.theirs}
        if name.lower() in known:
            return known[name.lower()]
        raise SqlRefusal.coded(NO_SETTING, f"There is no setting {name[:60]!r}.", "see SHOW ALL")

    def list_all(self) -> list[tuple[str, str]]:
        """Return all settings by name."""
        own = [(f"{OURS}{name}", self.find(f"{OURS}{name}")) for name in READERS]
        known = {**OTHERS, **REPORTED}
        names = {name: name for name in self.theirs} | {name.lower(): name for name in known}
        return sorted([*own, *((shown, self.find(name)) for name, shown in names.items())])

    def set(self, name: str, value: str | None) -> "ConnectionSettings":
        """Return settings with one that is changed; None sets it to what the connection began with."""
        lowered = name.lower()
        if lowered.startswith(OURS):
            return self._set_own(lowered.removeprefix(OURS), value)
        if not NAME.fullmatch(lowered) or lowered in FIXED:
            raise SqlRefusal.coded(READ_ONLY_SETTING, "This setting cannot be changed.", "leave it as it is")
        if value is None:
            value = self.start.theirs.get(lowered)
        theirs = {other: text for other, text in self.theirs.items() if other != lowered}
        if value is not None:
            theirs[lowered] = _check_theirs(lowered, value)
        if len(theirs) > MOST_KEPT:
            raise SqlRefusal.coded("53400", "Too many settings are set.", "write RESET ALL")
        return replace(self, theirs=theirs)

    def reset(self) -> "ConnectionSettings":
        """Return the settings that the connection began with."""
        return replace(self.start, initial=self.start)

    def with_hints(self, hints: Iterable[tuple[str, str]]) -> "ConnectionSettings":
        """Return the settings of one statement, with what its hints say."""
        found, prices = self, 0
        for name, value in hints:
            prices += name in PRICES
            if prices > 1:
                raise SqlRefusal.coded(
                    BAD_PARAMETER, "The hints of this statement have two prices.", "leave one of them out"
                )
            found = found._set_own(name, value)
        return found

    def without_price(self) -> "ConnectionSettings":
        """Return the settings of a statement that states its own price."""
        return replace(self, ours={name: text for name, text in self.ours.items() if name not in PRICES})

    def asked(self, sql: str, request: str | None) -> Asked:
        """Return a question with these options. `request` is its id, unless one is set."""
        options = {name: READERS[name][0](text, f"{OURS}{name}") for name, text in self.ours.items() if text}
        options["request"] = options.get("request") or request
        return Asked(sql=sql, **options)

    def _set_own(self, name: str, value: str | None) -> "ConnectionSettings":
        if name in READ_ONLY_NAMES:
            raise SqlRefusal.coded(
                READ_ONLY_SETTING, f"discreet.{name} is shown and not set.", f"write SHOW discreet.{name}"
            )
        if name not in READERS:
            raise refuse_unknown(f"{OURS}{name}")
        if value is None:
            value = self.start.ours.get(name, "")
        if len(value) > LONGEST:
            raise _refuse_value(f"{OURS}{name}", f"write at most {LONGEST} signs")
        if value:
            READERS[name][0](value, f"{OURS}{name}")
        dropped = (*PRICES,) if name in PRICES and value else (name,)
        ours = {other: text for other, text in self.ours.items() if other not in dropped}
        return replace(self, ours={**ours, name: value} if value else ours)


def refuse_unknown(name: str) -> SqlRefusal:
    """Return the refusal of a setting of ours that does not exist."""
    known = ", ".join(f"{OURS}{one}" for one in (*READERS, *READ_ONLY_NAMES))
    return SqlRefusal.coded(NO_SETTING, f"There is no setting {name[:60]!r}.", f"use one of: {known}")


def _lowered(settings: Mapping[str, str]) -> dict[str, str]:
    return {name.lower(): value for name, value in settings.items()}


def _check_theirs(name: str, value: str) -> str:
    """Return the value of a setting of PostgreSQL; refuse another encoding or form of dates than is written here."""
    if name == "client_encoding" and value.lower().replace("-", "").strip("'\"") not in ("utf8", "unicode"):
        raise SqlRefusal.coded(BAD_PARAMETER, "The only encoding is UTF8.", "SET client_encoding = UTF8")
    if name == "datestyle" and not value.lower().startswith("iso"):
        raise SqlRefusal.coded(BAD_PARAMETER, "Dates are written as ISO 8601 has them.", "SET DateStyle = ISO")
    if len(value) > LONGEST:
        raise _refuse_value(name, f"write at most {LONGEST} signs")
    return "UTF8" if name == "client_encoding" else value


def reported_of(settings: ConnectionSettings) -> dict[str, str]:
    """Return the settings that clients are told, by the names that they know them by."""
    return {name: settings.find(name.lower()) for name in REPORTED}


# What a client says when it connects.

#: In the text of `options`: -c name=value, --name=value; a backslash takes a blank into a word.
WORD = re.compile(r"(?:[^\s\\]|\\.)+", re.DOTALL)
#: Startup parameters that are no settings.
NOT_SETTINGS = ("user", "database", "options", "replication")


def begin_settings(parameters: Mapping[str, str], name: str, *, pays: bool) -> ConnectionSettings:
    """Return the settings of a new connection, of its startup parameters."""
    authorised = {"session_authorization": name}
    begun = ConnectionSettings(ours={} if pays else {"pay": "off"}, theirs=authorised)
    said = [
        (key, value) for key, value in parameters.items() if key not in NOT_SETTINGS and not key.startswith("_pq_.")
    ]
    for key, value in [*said, *read_options(parameters.get("options", ""))]:
        begun = begun.set(key, value)
    return replace(begun, initial=begun)


def read_options(text: str) -> Sequence[tuple[str, str]]:
    """Return the settings that `options` has; refuse any other option."""
    words = [re.sub(r"\\(.)", r"\1", word, flags=re.DOTALL) for word in WORD.findall(text)]
    pairs, at = list[tuple[str, str]](), 0
    while at < len(words):
        word = words[at]
        if word == "-c" and at + 1 < len(words):
            at += 1
            word = words[at]
        elif word.startswith("-c"):
            word = word[2:]
        elif word.startswith("--"):
            word = word[2:].replace("-", "_")
        else:
            word = ""
        name, sign, value = word.partition("=")
        if not sign or not name:
            raise SqlRefusal.coded(
                BAD_PARAMETER,
                "The options of the connection cannot be read.",
                "write options='-c discreet.epsilon=0.1'",
            )
        pairs.append((name.lower(), value))
        at += 1
    return pairs
