"""What cannot be put into a file of questions: hidden characters, and what reading costs."""

import pickle
import subprocess
import sys

import pytest
from sqlglot import exp

from discreet.query.questions import QueryRefused
from discreet.query.sql import read_sql
from discreet.query.sql.parsing.parser import parse_select, tokenise
from discreet.query.sql.parsing.tokens import Page
from discreet.query.sql.parsing.tree_checks import KNOWN
from discreet.query.sql.passes import TREE_CHECKS, read_piece, read_rows
from discreet.query.sql_writing.question import question_sql
from sql_corpus import SCHEMAS


@pytest.mark.parametrize(
    "sign", ["\0", "\u202e", "\u2066", "\u200b", "\ufeff", "\u00ad", "\x1b", "\x7f", "\u2028", "\ue000"]
)
@pytest.mark.parametrize("where", ["SELECT{} COUNT(*) FROM visits", "SELECT COUNT(*) FROM visits WHERE ward = 'a{}'"])
def test_a_character_that_cannot_be_seen_is_refused_even_in_quotes(sign, where):
    with pytest.raises(QueryRefused, match=f"invisible character, U\\+{ord(sign):04X}") as caught:
        read_sql(where.format(sign), SCHEMAS)
    assert caught.value.column == where.index("{}") + 1


@pytest.mark.parametrize("comment", ["-- {}", "/* {} */"])
def test_nothing_hides_in_a_comment(comment):
    """What cannot be seen is refused there, too, and what was said there is in nothing that is written down."""
    for sign in ("\u202e", "\0", "\u200b"):
        with pytest.raises(QueryRefused, match="invisible character"):
            read_sql(f"SELECT COUNT(*) FROM visits {comment.format(sign)}", SCHEMAS)
    question = read_sql(f"SELECT COUNT(*) FROM visits {comment.format('for Dr No')}", SCHEMAS)
    assert question == read_sql("SELECT COUNT(*) FROM visits", SCHEMAS)
    assert "Dr No" not in question_sql(question, SCHEMAS) + repr(question)


def test_a_comment_moves_nothing():
    """A refusal stands where it would stand without it."""
    with pytest.raises(QueryRefused) as caught:
        read_sql("/* a\nb */ SELECT COUNT(*) -- c\r\nFROM visits /* d */ WHERE wrad = 1", SCHEMAS)
    assert (caught.value.line, caught.value.column) == (3, 27)


def test_a_comment_in_a_piece_of_a_question_is_refused():
    """Pieces are put together, and it would take out what follows."""
    with pytest.raises(QueryRefused, match="unsupported comment"):
        read_piece("age > 40 -- and more", ("age",))
    with pytest.raises(QueryRefused, match="unsupported comment"):
        read_rows("visits /* all */", SCHEMAS, {}, None)


def test_lines_and_columns_are_counted_in_characters_whatever_ends_a_line():
    for end in ("\n", "\r\n", "\r"):
        with pytest.raises(QueryRefused) as caught:
            read_sql(f"SELECT COUNT(*){end}FROM visits{end}WHERE ward = '🏥é' AND wrad = 1", SCHEMAS)
        assert (caught.value.line, caught.value.column) == (3, 23)


def test_a_refusal_crosses_a_process_boundary():
    refusal = QueryRefused("No.", fix="yes", line=2, column=3)
    again = pickle.loads(pickle.dumps(refusal))
    assert str(again) == str(refusal) == "No. (line 2, column 3)\n  fix: yes"
    assert (again.line, again.column, again.plain) == (2, 3, "No.")


def look(page, tree, tokens):
    for check in TREE_CHECKS:
        check(page, tree, tokens)


def test_an_unknown_argument_of_any_known_node_is_refused():
    """Whatever sqlglot may hang on a node that we know, now or later, it is not passed over."""
    text = """
        WITH c AS (SELECT age FROM visits)
        SELECT ward AS w, COUNT(*) FILTER (WHERE age > 1), PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY stay),
        SUM(-stay), COUNT(DISTINCT ward), SUM(CASE WHEN NOT smoker IS TRUE THEN 1 + 2 * 3 / 4 // 5 % 6 - 1 END), NULL
        FROM visits AS v JOIN (SELECT age FROM c UNION ALL SELECT age FROM c) AS u ON v.age = u.age
        JOIN (SELECT age FROM c INTERSECT SELECT age FROM c EXCEPT SELECT age FROM c) AS w ON v.age = w.age
        WHERE ward IN ('A') AND age BETWEEN 1 AND 2 OR ward LIKE 'a' OR ward ILIKE 'b' OR ward RLIKE 'c' OR (age = 1)
        OR age <> 1 OR age < 1 OR age <= 1 OR age > 1 OR age >= 1 OR ward || 'x' = 'y' OR TRY_CAST(ward AS INT) = 1
        OR CAST(ward AS DATE) + INTERVAL 1 DAY = day OR EXTRACT(YEAR FROM day) = 1 OR EXISTS (SELECT 1 FROM c)
        OR age IS DISTINCT FROM 1 OR age IS NOT DISTINCT FROM 1 OR CAST(age AS DECIMAL(5, 1)) = 1
        GROUP BY (ward, age), ROLLUP (ward), CUBE (age), GROUPING SETS ((ward))
        HAVING COUNT(*) > 1 QUALIFY SUM(COUNT(*)) OVER (ORDER BY ward ROWS 1 PRECEDING) > 1
        ORDER BY 1 LIMIT 1 OFFSET 1
    """
    page = Page(text)
    tokens = tokenise(page)
    kinds = {type(node) for node in parse_select(page, tokens).walk()}
    assert kinds == set(KNOWN)
    for kind in kinds:
        tree = parse_select(page, tokens)
        look(page, tree, tokens)
        node = next(node for node in tree.walk() if type(node) is kind)
        node.args["brand_new"] = exp.true()
        with pytest.raises(QueryRefused, match=r"unsupported clause \(brand_new\)"):
            look(page, tree, tokens)


def test_a_word_that_the_parser_drops_is_refused():
    page = Page("SELECT COUNT(*) FROM visits WHERE age > 1")
    tokens = tokenise(page)
    tree = parse_select(page, tokens)
    tree.args.pop("where")
    with pytest.raises(QueryRefused, match=r"'age' is not supported here\. \(line 1, column 35\)"):
        look(page, tree, tokens)


def test_sqlglot_is_loaded_with_the_first_question_and_not_before():
    program = "import sys, discreet, discreet.query; assert 'sqlglot' not in sys.modules"
    subprocess.run([sys.executable, "-c", program], check=True)
