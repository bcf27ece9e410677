"""Choosing an equilibrium of a large game privately: dynamics by multiplicative weights on noisy counts.

A mediator learns the types of all players. In each of T rounds it adds up what players of these types would do,
adds discrete Gaussian noise, and posts the sum. At last it draws one of the rounds, and suggests to each player an
action drawn from their own strategy of that round.

**Joint differential privacy.** A mediator is (ε, δ)-jointly private if, for every player i and every two reports of i,
what *all others* are told differs by no more than (ε, δ) allows (Kearns, Pai, Roth, Ullman 2014). **Billboard lemma.**
If a posted signal is (ε, δ)-differentially private, and each player is told a function of the signal, their own report
and own coins, then all of it together is (ε, δ)-jointly private: what the others are told is a function of the signal
and of their reports, which are the same for both reports of i; that is post-processing (Hsu, Huang, Roth, Roughgarden,
Wu 2014).

**Guarantee.** A replaced player moves each round's sum by the difference of two vectors of whole numbers of sum R =
2²⁰: l1 ≤ 2R, l2² ≤ 2R². So T rounds with variance TR²/ρ cost ρ-zCDP, one that comes or goes less than that. Rounds are
adaptive: what is added up in each depends on what was posted before, and on nothing else that is private.

**Theorem (regret).** With probability 1 − β over the noise, for every set of players: no player who told the truth
would have had more than r of utility more, in the mean over the mediator's draws, by any fixed action, or by following
the suggestions to any other type. With k actions, m types, N = k + m − 1 experts, rate η, C the crowding and

    B = ‖C‖∞·E/(nR) + max|C|/n,    E: no noise in any round is larger, except with probability β/2,

    r = ln(N)/(ηT) + η(1 + 2B)²/8 + (2⁻²⁰ + k/R)(1 + 2B) + (max C − min C)/n + (d₂σ/nR)·√(2·ln(2mN/β)/T),

where d₂ is the largest distance of two rows of C. Proof. A type learns from base − C·posted/(nR), which is the true
utility minus C·noise/(nR), minus the player's own part of the count. (1) These estimates lie within 1 + 2B of each
other, so Hedge has regret ln(N)/(ηT) + η(1 + 2B)²/8 on them, against every expert (Cesa-Bianchi, Lugosi 2006, Theorem
2.2); to keep a weight of 2⁻²⁰ on actions and to round two strategies costs the third term. (2) The own part of the
count moves two actions apart by (max C − min C)/n at most. (3) What is left is the sum over rounds of
(x − p)·C·noise/(nR), where the comparator x and the strategy p were fixed before the round's noise was drawn: a
martingale with subgaussian steps of norm d₂σ/(nR) (Canonne, Kamath, Steinke 2020, on the discrete Gaussian), for each
of the mN pairs of a type and an expert; the union bound over them gives β/2. ∎ As σ/R = √(T/ρ), the last term does not
grow with T, and B stays small while T is below ρn²: so r falls as 1/(n·√ρ), up to logarithms.

That is an approximate *coarse* correlated equilibrium: players decide whether to follow before they see what is
suggested. To react to a suggestion by another action is not covered, nor is it in the literature's coarse notion.

**Theorem (incentives).** No player gains more than r + β + v in the mean by a false report that is then followed, or by
any report and any fixed action, where v is the total variation of the signal (`most_gain`). Proof. A player's
utility after a report is a mean, over the signal, of a number in [0, 1] that the signal decides: others' strategies are
functions of it. So a false report moves it by v at most, and then the first theorem applies, except with probability
β. ∎ Reference: Kearns, Pai, Roth, Ullman 2014; Rogers, Roth 2014; experts that are types are ours.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from discreet.accounting import Repeated
from discreet.core import InvalidInput, Number, OutOfRange, Sensitivity, WrongType, positive, whole
from discreet.core.canonical_text import Record, settle
from discreet.market.games import Floats, LargeGame
from discreet.market.statements import IncentiveGuarantee, miss_of, most_gain, words_of
from discreet.mechanisms import Gaussian
from discreet.noise import SYSTEM, Entropy, below, choose

# Dynamics of a game: the strategy of every type in every round, as a function of the posted counts alone.
#
# Each type runs Hedge (multiplicative weights) over *experts*: every action, and every other type, whose strategy is
# then taken over. So a type's strategy is p_t = Σ_a q[t, a]·e_a + Σ_{t′≠t} q[t, t′]·p_t′, a linear system with one
# solution, as some weight is always on actions. Experts that are types make lies unattractive: a player who
# poses as another type is given that type's strategy, against which there is no regret either.
#
# Strategies are rounded to multiples of 2⁻²⁰, so that what a player adds to a round's count is a vector of whole
# numbers of sum 2²⁰. Floats decide which; that they do cannot hurt privacy, as they have only seen what was posted,
# and the vectors have that sum whatever happens.

#: Whole numbers that a player's strategy adds up to.
SHARES = 1 << 20
#: Weight that is kept on actions, so that the linear system is well-conditioned.
KEPT = 2.0**-20

Integers = NDArray[np.int64]


class Dynamics:
    """The players' side of a mediator: strategies of all types, and what they learn from a posted count."""

    def __init__(self, game: LargeGame, rate: float) -> None:
        self._base = np.array(game.base, float)
        self._crowding = np.array(game.crowding, float)
        self._scale = float(game.players * SHARES)
        self._rate = rate
        types, actions = self._base.shape
        self._gains = np.zeros((types, actions + types))
        # No type is an expert for itself.
        self._gains[np.arange(types), actions + np.arange(types)] = -np.inf
        self.shares = self._strategies()

    def learn(self, posted: Integers) -> Self:
        """Take in the posted count of one round, and move on to the next."""
        actions = self._base.shape[1]
        estimated = self._base - self._crowding @ (posted / self._scale)
        self._gains[:, :actions] += estimated
        self._gains[:, actions:] += estimated @ (self.shares / SHARES).T
        self.shares = self._strategies()
        return self

    def _strategies(self) -> Integers:
        """Return the strategies of each type, in whole shares: one row a type."""
        types, actions = self._base.shape
        weights = np.exp(self._rate * (self._gains - self._gains.max(axis=1, keepdims=True)))
        weights /= weights.sum(axis=1, keepdims=True)
        own = (1 - KEPT) * weights[:, :actions] + KEPT / actions
        mixed = np.linalg.solve(np.eye(types) - (1 - KEPT) * weights[:, actions:], own)
        return round_mixtures(mixed)


def round_mixtures(mixed: Floats) -> Integers:
    """Return rows of whole numbers of sum 2²⁰, each less than one from 2²⁰ times the given one."""
    sound = np.isfinite(mixed).all(axis=1, keepdims=True)  # so that whatever floats do, a row is a strategy
    safe = np.where(sound, np.clip(mixed, 0, 2), 1.0) + np.finfo(float).tiny
    scaled = safe / safe.sum(axis=1, keepdims=True) * SHARES
    shares: Integers = np.floor(scaled).astype(np.int64)
    short: list[int] = (SHARES - shares.sum(axis=1)).tolist()
    order = np.argsort(shares - scaled, axis=1, kind="stable")
    for row, missing in enumerate(short):
        shares[row, order[row, :missing]] += 1
    return shares


#: Rounds that there may be, and up to which powers of two are tried.
MOST_ROUNDS, USUAL_ROUNDS = 1 << 14, 1 << 12
#: More than floats of these formulas and strategies are off by, relatively.
SLACK = 1e-9
#: The confidence that rounds and rate are chosen for.
USUAL = Fraction(19, 20)


@dataclass(frozen=True, slots=True, init=False)
class Mediator:
    """A mediator that suggests an action to every player; following it is nearly best. The data is a list of types.

    Types that are not in the game are left out. Guarantee: ρ-zCDP of what is posted, and so joint privacy; see above.

    Args:
        game: the public game.
        rho: ρ of everything that is posted.
        rounds: the number of rounds; chosen for the smallest regret if left out.

    Raises:
        DiscreetError: if a value is out of range.

    """

    __canonical__: ClassVar[Record] = Record("Mediator", "game", "rho", "rounds", "rate")

    game: LargeGame
    rho: Fraction
    rounds: int
    #: η: how fast players learn.
    rate: Fraction

    def __init__(self, game: LargeGame, *, rho: Number, rounds: int | None = None) -> None:
        if not isinstance(game, LargeGame):
            raise WrongType("game is not a LargeGame.", fix="pass routing_game(10_000) or the like")
        price = positive(rho, "rho")
        tried = [1 << power for power in range(2, USUAL_ROUNDS.bit_length())] if rounds is None else [rounds]
        times = [whole(count, "rounds", least=2, most=MOST_ROUNDS) for count in tried]
        chosen = min(times, key=lambda count: _regret(game, price, count, best_rate(game, price, count), 1 - USUAL))
        settle(self, game=game, rho=price, rounds=chosen, rate=best_rate(game, price, chosen))

    @property
    def noise(self) -> Gaussian:
        """The noise that is added to every round's count."""
        return noise_of(self.game, self.rho, self.rounds)

    @property
    def cost(self) -> Repeated:
        """The cost of all rounds together."""
        return Repeated(self.noise.cost, self.rounds)

    def describe(self) -> str:
        """Return the question, in words."""
        return f"an equilibrium among {len(self.game.actions)} actions, by {self.rounds} noisy counts"

    def canonical(self) -> str:
        """Return all that decides how the counts are distributed."""
        return words_of(self)

    def check(self, data: Sequence[str], /) -> None:
        """Refuse, before anything is paid, data that is not a list of reports. No report is looked at."""
        if not isinstance(data, list | tuple | np.ndarray):
            raise WrongType("reports is not a list.", fix="pass the type of every player")

    def people(self, reports: Sequence[str]) -> Integers:
        """Return how many players there are of each type. As private as the reports."""
        self.check(reports)
        index = {name: at for at, name in enumerate(self.game.types)}
        places = [index[report] for report in reports if isinstance(report, str) and report in index]
        return np.bincount(np.array(places, np.int64), minlength=len(index))

    def run(self, data: Sequence[str], entropy: Entropy, /) -> dict[str, Any]:
        """Return the noisy counts of all rounds, and which round was drawn."""
        people, noise = self.people(data), self.noise
        players, posted = Dynamics(self.game, float(self.rate)), list[Integers]()
        for _ in range(self.rounds):
            posted.append(noise.perturb(people @ players.shares, entropy=entropy))
            players.learn(posted[-1])
        return {"counts": np.stack(posted), "round": below(self.rounds, entropy=entropy)}

    def billboard(self, answer: Mapping[str, Any]) -> "Billboard":
        """Return the meaning of an answer for players of every type."""
        players, plays = Dynamics(self.game, float(self.rate)), list[Integers]()
        for posted in answer["counts"]:
            plays.append(players.shares)
            players.learn(posted)
        return Billboard(mediator=self, plays=np.stack(plays), round=answer["round"])

    def regret(self, confidence: Number = 0.95) -> IncentiveGuarantee:
        """Return the most that following costs any player who told the truth."""
        miss = miss_of(confidence)
        return IncentiveGuarantee(
            says="no fixed action, and no other type's suggestions, beat following by more than {bound}",
            bound=_exactly(_regret(self.game, self.rho, self.rounds, self.rate, miss)),
            probability=1 - miss,
            because="Hedge on noisy counts; Kearns, Pai, Roth, Ullman 2014",
        )

    def incentives(self, confidence: Number = 0.95) -> IncentiveGuarantee:
        """Return the most that a false report is worth in the mean, followed or with any fixed action."""
        miss = miss_of(confidence)
        return IncentiveGuarantee(
            says="no player gains more than {bound} by a false report, or by any fixed action instead of following",
            bound=self.regret(confidence).bound + miss + most_gain(self.cost),
            probability=Fraction(1),
            because="total variation of the signal; Kearns, Pai, Roth, Ullman 2014",
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Billboard:
    """The posted signal, read by players. Everything but `regrets` follows from public facts."""

    mediator: Mediator
    #: The strategies of each type in each round, in shares of 2²⁰: [round, type, action].
    plays: Integers
    round: int

    def mean_play(self, type_: str) -> dict[str, float]:
        """Return how often each action is suggested to a type."""
        mean = self.plays[:, self._at(type_)].mean(axis=0) / SHARES
        return dict(zip(self.mediator.game.actions, mean.tolist(), strict=True))

    def _at(self, type_: str) -> int:
        if type_ not in self.mediator.game.types:
            raise InvalidInput("Unknown type of player.", fix="pass one of game.types")
        return self.mediator.game.types.index(type_)

    def suggest(self, type_: str, *, entropy: Entropy = SYSTEM) -> str:
        """Return the action that is suggested to a player of a type, drawn afresh for each player."""
        return self.mediator.game.actions[choose(self.plays[self.round, self._at(type_)], entropy=entropy)]

    def regrets(self, reports: Sequence[str]) -> dict[str, float]:
        """Return the gain of each type that is there by the best fixed action, or other type to pose as.

        In the mean over rounds, with all others following. As private as the reports: not for release.
        """
        game, people = self.mediator.game, self.mediator.people(reports)
        plays = self.plays / SHARES
        total, crowding, regrets = np.einsum("m,tmk->tk", people, plays), np.array(game.crowding, float), {}
        for at in np.flatnonzero(people):
            own = plays[:, at]
            worth = np.array(game.base[at], float) - (total - own) @ crowding.T / game.players
            follow = (own * worth).sum(axis=1).mean()
            others = np.einsum("tmk,tk->tm", plays, worth).mean(axis=0)
            regrets[game.types[at]] = float(max(worth.mean(axis=0).max(), others.max()) - follow)
        return regrets


def noise_of(game: LargeGame, rho: Fraction, rounds: int) -> Gaussian:
    """Return the noise of one of so many rounds that cost ρ together."""
    if len(game.actions) > 2 * SHARES:
        raise OutOfRange("There are more actions than shares.", fix="use fewer actions")
    moved = Sensitivity(l0=len(game.actions), linf=SHARES, l1=2 * SHARES, l2_squared=2 * SHARES**2)
    return Gaussian.for_rho(rho / rounds, moved)


def best_rate(game: LargeGame, rho: Fraction, rounds: int) -> Fraction:
    """Return √(8·ln(N)/T)/(1 + 2B) at the usual confidence, to six digits."""
    experts = len(game.actions) + len(game.types) - 1
    wide = _reach(game, noise_of(game, rho, rounds), rounds, 1 - USUAL)
    return Fraction(f"{math.sqrt(8 * math.log(experts) / rounds) / wide:.6g}")


def _reach(game: LargeGame, noise: Gaussian, rounds: int, miss: Fraction) -> float:
    """Return 1 + 2B: how far apart estimates of one round lie, except with probability β/2."""
    crowding = np.array(game.crowding, float)
    largest = noise.error(1 - miss / 2, size=rounds * len(game.actions))
    over = np.abs(crowding).sum(axis=1).max() * largest / SHARES + np.abs(crowding).max()
    return float(1 + 2 * over / game.players)


def _regret(game: LargeGame, rho: Fraction, rounds: int, rate: Fraction, miss: Fraction) -> float:
    """Return r of the first theorem."""
    crowding, noise, speed = np.array(game.crowding, float), noise_of(game, rho, rounds), float(rate)
    actions, types = len(game.actions), len(game.types)
    experts = actions + types - 1
    wide = _reach(game, noise, rounds, miss)
    learned = math.log(experts) / (speed * rounds) + speed * wide**2 / 8 + (KEPT + actions / SHARES) * wide
    own = float(crowding.max() - crowding.min()) / game.players
    apart = float(np.linalg.norm(crowding[:, None] - crowding[None, :], axis=2).max())
    tail = math.sqrt(2 * math.log(2 * types * experts / float(miss)) / rounds)
    return learned + own + apart * noise.deviation / (game.players * SHARES) * tail + SLACK


def _exactly(number: float) -> Fraction:
    return Fraction(number) * (1 + Fraction(1, 10**9))


def best_rho(game: LargeGame) -> Fraction:
    """Return the ρ at which a false report is worth least by `Mediator.incentives`, among a few per decade.

    Args:
        game: the public game.

    Returns:
        The chosen ρ.

    Raises:
        DiscreetError: if the value is not a game.

    """
    tried = [Fraction(f"{digit}e{power}") for power in range(-8, 1) for digit in (1, 2, 5)]
    return min(tried, key=lambda rho: Mediator(game, rho=rho).incentives(Fraction(999, 1000)).bound)
