"""The parser of the command line, on click: commands, lazy groups, and usage errors with a problem and a fix.

A command is declared beside its handler, which takes the typed texts as `Arguments` and returns an `Answer`. Nothing
heavy is imported here or at the top of a command's file, so that help comes at once.
"""

import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from types import SimpleNamespace
from typing import Any, TypeAlias

import click

from discreet.cli.console import write
from discreet.cli.output import CommandOutput, escape_controls
from discreet.core import InvalidInput
from discreet.core.schema import closest

#: The typed values, by the names of options: texts, lists of texts, and flags. An option that was left out is None.
Arguments: TypeAlias = SimpleNamespace
#: A function that runs a command.
Handler: TypeAlias = Callable[[Arguments], CommandOutput]
#: A decorator that declares a command's arguments and options.
Declaration: TypeAlias = Callable[[Handler], Handler]

JSON = """\
With --json one JSON object is printed. Exit status: 0, or 2 if the input is refused (then the reason and its fix are
on standard error).
"""
#: The place where the settings of a dataset are looked for.
PROJECT = "discreet.toml"
#: A value that begins with a dash and is not an option.
NEGATIVE = re.compile(r"-[0-9]+|-[0-9]*\.[0-9]+")
#: Columns that help may fill on a wide terminal.
WIDTH = 100
#: The attribute where a handler keeps its declarations, until its command is made.
DECLARED = "__declared__"


class Argument(click.Argument):
    """An argument with a line of help."""

    def __init__(self, name: str, *, metavar: str, text: str, **settings: Any) -> None:
        super().__init__([name], metavar=metavar, **settings)
        self.metavar, self.text = metavar, text


class WordChoice(click.Choice[str]):
    """A word of a list; another one is refused, with the nearest."""

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the word."""
        if value in self.choices or param is None or ctx is None or ctx.resilient_parsing:
            return value
        name = param.opts[0] if isinstance(param, click.Option) else param.metavar
        choices = ", ".join(self.choices)
        fix = f"{_nearest(value, self.choices)}choose one of {choices}; {_see(ctx)}"
        raise InvalidInput(f"{name} is {value!r}, which is not one of {choices}.", fix=fix)


class Option(click.Option):
    """An option whose value is a text; `greedy` ones take all values up to the next option.

    An option that is given twice has the values of the last time. One that `extends`, or that is `multiple` and takes
    one value at a time, adds them.
    """

    def __init__(self, *names: str, greedy: bool = False, extends: bool = False, **settings: Any) -> None:
        super().__init__(names, **settings)
        self.greedy, self.extends = greedy, extends


class Exclusive:
    """Options of which at most one may be given, or exactly one."""

    def __init__(self, *names: str, required: bool) -> None:
        self.names, self.required = names, required

    def check(self, context: click.Context) -> None:
        """Refuse two of them, and none if one is required."""
        options = [parameter for parameter in context.command.params if set(self.names) & set(parameter.opts)]
        given = [option.opts[0] for option in options if context.params.get(str(option.name)) not in (None, False, ())]
        if len(given) > 1:
            raise InvalidInput(f"{given[1]} is not allowed with {given[0]}.", fix=f"leave one out; {_see(context)}")
        if self.required and not given:
            choices = " or ".join(option.opts[0] for option in options)
            raise InvalidInput(f"One of {choices} is required.", fix=f"pass one of them; {_see(context)}")


class Command(click.Command):
    """One command. Its callback returns the handler's answer, and whether JSON is wanted."""

    exclusives: tuple[Exclusive, ...] = ()

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the options first, then the arguments: both may be mixed, and an argument may be a negative number."""
        try:
            rest = super().parse_args(ctx, self._sort_words(ctx, args))
        except click.UsageError as error:
            raise refuse_usage(error, ctx) from None
        if not ctx.resilient_parsing:
            for exclusive in self.exclusives:
                exclusive.check(ctx)
        return rest

    def _sort_words(self, context: click.Context, typed: Sequence[str]) -> list[str]:
        """Return the options, each with one value, then `--` and the arguments.

        A greedy option that is given again replaces its values, unless it extends them.
        """
        known = {
            name: parameter
            for parameter in self.get_params(context)
            for name in parameter.opts
            if isinstance(parameter, click.Option)
        }
        options, words, waiting, lists = list[str](), list[str](), list(typed), dict[str, list[str]]()
        while waiting:
            word = waiting.pop(0)
            name, _, value = word.partition("=")
            if name != word and _replaces(known.get(name)):
                lists[name] = [value]
                continue
            if word == "--":
                words += waiting
                break
            option = known.get(word)
            if option is None or option.is_flag:
                (words if _is_value(word) and option is None else options).append(word)
                continue
            if not waiting or not _is_value(waiting[0]):
                if context.resilient_parsing:
                    options.append(word)
                    continue
                raise InvalidInput(f"{word} has no value.", fix=f"write {word} {option.metavar}; {_see(context)}")
            values = _take_values(option, waiting)
            if _replaces(option):
                lists[word] = values
            else:
                options += [part for value in values for part in (word, value)]
        options += [part for word, values in lists.items() for value in values for part in (word, value)]
        return [*options, "--", *words]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the arguments, then the options."""
        records = [
            (str(parameter.metavar), parameter.text) for parameter in self.params if isinstance(parameter, Argument)
        ]
        if records:
            with formatter.section("Arguments"):
                formatter.write_dl(records)
        super().format_options(ctx, formatter)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples as they stand."""
        del ctx
        _write_epilog(self, formatter)


class CommandGroup(click.Group):
    """Commands by name, each in a module that is imported when the command is wanted."""

    def __init__(self, name: str, title: str, *, modules: Mapping[str, str], metavar: str, **settings: Any) -> None:
        super().__init__(
            name,
            help=title,
            short_help=title,
            no_args_is_help=False,
            subcommand_metavar=metavar,
            add_help_option=False,
            **settings,
        )
        self.modules, self.kind = modules, metavar
        self.params.append(_help_option())

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order in which they are declared."""
        del ctx
        return list(self.modules)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command; its module names it as its handler, with _ for -."""
        del ctx
        if cmd_name not in self.modules:
            return None
        handler: click.Command = getattr(import_module(self.modules[cmd_name]), f"{cmd_name.replace('-', '_')}_command")
        return handler

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the options of the group; a command must follow them."""
        if not args and not ctx.resilient_parsing:
            names = ", ".join(self.modules)
            raise InvalidInput(f"{self.kind} is missing.", fix=f"choose one of {names}; {_see(ctx)}")
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            raise refuse_usage(error, ctx) from None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that is typed; a wrong one is refused, with the nearest."""
        if args[0] not in self.modules and not ctx.resilient_parsing:
            meant = _nearest(args[0], self.modules) or f"choose one of {', '.join(self.modules)}; "
            raise InvalidInput(f"There is no {self.kind} {args[0]!r}.", fix=f"{meant}{_see(ctx)}")
        return super().resolve_command(ctx, args)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples as they stand."""
        del ctx
        _write_epilog(self, formatter)


def command(name: str, title: str, *, epilog: str = JSON, json: bool = True) -> Callable[[Handler], Command]:
    """Make a command of its handler, with what is declared between the two."""

    def make(handler: Handler) -> Command:
        declared = list(reversed(getattr(handler, DECLARED, [])))
        params = [entry for entry in declared if isinstance(entry, click.Parameter)]
        if json:
            params.append(Option("--json", is_flag=True, help="one JSON object instead of words"))
        command = Command(
            name,
            params=[*params, _help_option()],
            callback=lambda **typed: _run(handler, params, typed),
            help=title,
            short_help=title,
            epilog=epilog,
            add_help_option=False,
        )
        command.exclusives = tuple(entry for entry in declared if isinstance(entry, Exclusive))
        return command

    return make


def argument(name: str, metavar: str, text: str, **settings: Any) -> Declaration:
    """Declare an argument."""
    return _declare(Argument(name, metavar=metavar, text=text, **settings))


def option(name: str, metavar: str, text: str, **settings: Any) -> Declaration:
    """Declare an option with a value."""
    dest = (settings.pop("dest"),) if "dest" in settings else ()
    return _declare(Option(name, *dest, metavar=metavar, help=text, **settings))


def repeatable_option(name: str, metavar: str, text: str) -> Declaration:
    """Declare an option that may be given several times."""
    return option(name, metavar, f"{text}; may be given several times", multiple=True)


def flag(name: str, text: str) -> Declaration:
    """Declare an option without a value."""
    return _declare(Option(name, is_flag=True, help=text))


def exclusive(*names: str, required: bool = False) -> Declaration:
    """Declare that options exclude each other."""
    return _declare(Exclusive(*names, required=required))


def several(*declarations: Declaration) -> Declaration:
    """Declare what several commands share, in this order."""

    def declare(handler: Handler) -> Handler:
        for declaration in reversed(declarations):
            handler = declaration(handler)
        return handler

    return declare


def _declare(entry: click.Parameter | Exclusive) -> Declaration:
    def declare(handler: Handler) -> Handler:
        handler.__dict__.setdefault(DECLARED, []).append(entry)
        return handler

    return declare


def _run(handler: Handler, params: Sequence[click.Parameter], typed: dict[str, Any]) -> tuple[CommandOutput, bool]:
    """Run a handler; an option that was not given at all is None, also if it may be given several times."""
    lists = {str(parameter.name) for parameter in params if parameter.multiple}
    values = {name: (list(value) or None) if name in lists else value for name, value in typed.items()}
    arguments = Arguments(**{"json": False, **values})
    return handler(arguments), bool(arguments.json)


def _replaces(option: click.Option | None) -> bool:
    """Tell whether an option takes several values at a time, and those of the last time count."""
    return isinstance(option, Option) and option.greedy and not option.extends


def _take_values(option: click.Option, waiting: list[str]) -> list[str]:
    """Take the values of an option from the words that follow it."""
    values = [waiting.pop(0)]
    while isinstance(option, Option) and option.greedy and waiting and _is_value(waiting[0]):
        values.append(waiting.pop(0))
    return values


def _is_value(word: str) -> bool:
    """Tell whether a word is a value and no option: a text with a blank in it may begin with a dash."""
    return not word.startswith("-") or word == "-" or " " in word or NEGATIVE.fullmatch(word) is not None


def _help_option() -> click.Option:
    def show(context: click.Context, _: click.Parameter, wanted: bool) -> None:  # noqa: FBT001 (click's own form)
        if wanted and not context.resilient_parsing:
            write(sys.stdout, context.get_help().rstrip())  # to a terminal that has no ε, too
            context.exit()

    return click.Option(
        ["-h", "--help"],
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=show,
        help="show this message and exit",
    )


def _write_epilog(command: click.Command, formatter: click.HelpFormatter) -> None:
    if command.epilog:
        formatter.write(f"\n{command.epilog.rstrip()}\n")


def _nearest(word: str, words: Iterable[str]) -> str:
    """Return a question about the word that may have been meant; nothing, if none is near."""
    near = closest(word, words)
    return f"did you mean {near}? " if near else ""


def _see(context: click.Context) -> str:
    return f"see {context.command_path} --help"


def refuse_usage(error: click.UsageError, context: click.Context) -> InvalidInput:
    """Return a usage error of click as an error with a fix."""
    see = _see(context)
    match error:
        case click.NoSuchOption(option_name=name, possibilities=near):
            meant = f"did you mean {min(near)}? " if near else ""
            return InvalidInput(f"There is no option {escape_controls(name)}.", fix=f"{meant}{see}")
        case click.MissingParameter(param=click.Option() as param):
            return InvalidInput(f"{param.opts[0]} is missing.", fix=f"pass {param.opts[0]} {param.metavar}; {see}")
        case click.MissingParameter(param=click.Argument() as param):
            return InvalidInput(f"{param.metavar} is missing.", fix=see)
        case _:
            text = escape_controls(error.format_message()).rstrip(".")
            return InvalidInput(f"{text[:1].upper()}{text[1:]}.", fix=see)
