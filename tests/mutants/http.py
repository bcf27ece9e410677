"""Planted bugs of the service's HTTP face, its limits and its logs; see `mutants`."""

from mutants.mutant import Mutant

HTTP = "unit/test_service_http.py"
LIMITS = "unit/test_service_limits.py"
SERVING = "unit/test_service_http_server.py"
ASSISTANTS = "unit/test_service_assistants.py"

HTTP_MUTANTS = [
    Mutant(
        "an idempotency key is shared by all people",
        "service/door.py::request_id",
        "return f\"{who.name}:{request.removeprefix(f'{who.name}:')}\"",
        "return request",
        f"{HTTP}::test_one_idempotency_key_of_two_people_is_two_requests",
    ),
    Mutant(
        "a request that may not pay pays",
        "service/door.py::release_asked",
        "if not asked.pay:",
        "if False:",
        f"{HTTP}::test_a_request_that_may_not_pay_pays_nothing_and_hears_the_price",
    ),
    Mutant(
        "a problem quotes an internal error",
        "service/http/app.py::_guarded",
        "return failure_response()",
        "return problem_response(DiscreetError(str(error), fix='none'))",
        f"{HTTP}::test_what_fails_inside_is_told_by_a_constant",
    ),
    Mutant(
        "a request without a token is somebody's",
        "service/http/app.py::need_known",
        "if not known:",
        "if not known and text:",
        f"{HTTP}::test_whoever_has_no_valid_token_gets_one_and_the_same_reply",
    ),
    Mutant(
        "pages of other origins are served",
        "service/http/app.py::Guard._is_foreign",
        "return any(origin not in self._origins for origin in origins)",
        "return False",
        f"{HTTP}::test_every_reply_has_the_headers_that_browsers_heed_and_no_page_of_another_origin_is_served",
    ),
    Mutant(
        "analysts read what others asked",
        "service/guarded_door.py::GuardedDoor.list_requests",
        "need_role(who, READING_ALL)",
        "",
        f"{HTTP}::test_roles_have_their_limits",
    ),
    Mutant(
        "a length that is no number of ASCII fails the service",
        "service/http/messages.py::_read_body",
        "if not (declared.isascii() and declared.isdigit())",
        "if not declared.isdigit()",
        "attacks/test_hostile_clients.py::test_no_body_makes_the_service_fail_hang_or_tell_of_rows",
    ),
    Mutant(
        "a body of any size is read",
        "service/http/messages.py::_read_body",
        "                if len(body) > limits.size:\n                    raise too_large\n",
        "",
        f"{HTTP}::test_a_body_without_a_length_is_cut_off_at_the_limit",
    ),
    Mutant(
        "the key in a header is not heeded",
        "service/http/messages.py::under_key",
        "return replace(asked, request=keys[0])",
        "return asked",
        f"{HTTP}::test_an_answer_is_words_with_bars_and_a_receipt",
    ),
    Mutant(
        "a request that was not written down is served",
        "service/log.py::AuditLog.record",
        "if self.place is not None and not self._append(self.place, event):",
        "if self.place is not None and self._append(self.place, event) is None:",
        f"{HTTP}::test_a_request_that_cannot_be_written_down_is_not_served",
    ),
    Mutant(
        "spending is not counted before it is paid",
        "service/guarded_door.py::GuardedDoor.ask",
        "if preview.spend is not None and (asked.fresh or not preview.free):",
        "if False:",
        f"{LIMITS}::test_a_question_beyond_the_rate_of_spending_is_not_paid_and_a_stored_one_is_free",
    ),
    Mutant(
        "a slow head is waited for without end",
        "service/http/server.py::PatientProtocol._close_late",
        "if not self.transport.is_closing():",
        "if False:",
        f"{SERVING}::test_one_byte_at_a_time_does_not_prolong_the_head",
    ),
    Mutant(
        "an assistant that may not pay pays",
        "service/assistants/server.py::RemoteService.ask",
        "pay=self._pay",
        "pay=True",
        f"{ASSISTANTS}::test_an_assistant_that_may_not_pay_hears_the_price",
    ),
    Mutant(
        "a tool tells a model what broke",
        "service/assistants/server.py::build_server",
        "reply = BROKEN",
        "reply = ToolReply(fields={'kind': 'Failure', 'refused': str(error)}, refused=True)",
        f"{ASSISTANTS}::test_what_breaks_is_told_by_a_constant",
    ),
    Mutant(
        "an assistant's program takes the tool that spends for one that reads",
        "service/assistants/server.py::_describe",
        "read_only_hint=not tool.spends",
        "read_only_hint=True",
        f"{ASSISTANTS}::test_tools_say_what_they_do_and_which_of_them_spends",
    ),
    Mutant(
        "an argument that is not known is passed over",
        "service/assistants/tools.py::read_arguments",
        "if name not in tool.arguments:",
        "if False:",
        f"{ASSISTANTS}::test_a_refusal_has_a_fix_a_price_and_what_is_left",
    ),
    Mutant(
        "a number is not its decimal text",
        "service/assistants/tools.py::_read_argument",
        "str(Fraction(repr(value)))",
        "str(Fraction(value))",
        f"{ASSISTANTS}::test_numbers_mean_their_decimal_text",
    ),
    Mutant(
        "what is asked again is a new request",
        "service/assistants/tools.py::_asked",
        'arguments.get("request") if request else None',
        "None",
        f"{ASSISTANTS}::test_what_is_not_ready_names_the_request_to_ask_again_under",
    ),
]
