"""The style sheet of a report, for paper and for dark screens."""

STYLE = """
:root { --ink: #1c2430; --soft: #5d6878; --line: #dfe4ea; --paper: #fbfbf9; --card: #ffffff;
  --mark: #0b6e99; --known: #c2410c; --good: #2f855a; --middling: #b7791f; --bad: #c53030; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ee; --soft: #9aa5b4; --line: #333c48; --paper: #14181d;
  --card: #1b2027; --mark: #5bb8e0; --known: #fb923c; --good: #48bb78; --middling: #ecc94b; --bad: #fc8181; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); line-height: 1.5;
  font-family: system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif; }
main { max-width: 54rem; margin: 0 auto; padding: 2.5rem 1.25rem 4rem; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0 0 .4rem; }
h2 { font-size: 1.1rem; margin: 0 0 .6rem; }
header p { color: var(--soft); margin: 0 0 1.5rem; }
section { background: var(--card); border: 1px solid var(--line); border-radius: .6rem; padding: 1.1rem 1.3rem;
  margin: 0 0 1.1rem; break-inside: avoid; }
p { margin: .5rem 0; }
.promise { font-size: 1.25rem; font-weight: 600; }
.cost { color: var(--soft); font-size: .88rem; }
pre { background: var(--paper); border: 1px solid var(--line); border-radius: .4rem; padding: .6rem .8rem;
  white-space: pre-wrap; font-size: .85rem; margin: .4rem 0 .8rem; }
code { font-size: .8rem; overflow-wrap: anywhere; }
figure { margin: .6rem 0; }
figcaption, summary { color: var(--soft); font-size: .85rem; }
summary { cursor: pointer; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: .88rem; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .25rem .9rem .25rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
th { color: var(--soft); font-weight: 600; }
th.right, td.right { text-align: right; }
svg { display: block; width: 100%; height: auto; }
svg text { fill: var(--ink); font-size: 12px; font-variant-numeric: tabular-nums; }
svg .label { text-anchor: end; }
svg .tick { text-anchor: middle; fill: var(--soft); font-size: 11px; }
svg .grid { stroke: var(--line); stroke-width: 1; }
svg .bar { stroke: var(--mark); stroke-width: 1.6; }
svg .mark { fill: var(--mark); }
svg .known { fill: none; stroke: var(--known); stroke-width: 1.6; }
svg.gauge { height: .9rem; border-radius: .45rem; overflow: hidden; }
svg .whole { fill: var(--line); }
svg .low { fill: var(--good); }
svg .middle { fill: var(--middling); }
svg .high { fill: var(--bad); }
"""
