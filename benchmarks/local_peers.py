"""One peer of local privacy, in its own environment: `python local_peers.py NAME PEOPLE`, answers as JSON.

Processor seconds of clients and server together. What either of them compiles or builds once is done beforehand.
"""

import json
import sys
import time

import numpy as np

DOMAIN, EPSILON = 1024, 1.0


def pure_ldp():
    """Client by client, as it is used; its categories begin at 1."""
    from pure_ldp.frequency_oracles import (
        DEClient,
        DEServer,
        HadamardResponseClient,
        HadamardResponseServer,
        LHClient,
        LHServer,
        UEClient,
        UEServer,
    )

    def ask(client, server, values):
        for value in values:
            server.aggregate(client.privatise(value + 1))
        return np.array(server.estimate_all(range(1, DOMAIN + 1), suppress_warnings=True))

    def hadamard():
        server = HadamardResponseServer(EPSILON, DOMAIN)
        return HadamardResponseClient(EPSILON, DOMAIN, server.get_hash_funcs()), server

    makers = {
        "k-ary response": lambda: (DEClient(EPSILON, DOMAIN), DEServer(EPSILON, DOMAIN)),
        "optimal unary": lambda: (UEClient(EPSILON, DOMAIN, use_oue=True), UEServer(EPSILON, DOMAIN, use_oue=True)),
        "local hashing": lambda: (LHClient(EPSILON, DOMAIN, use_olh=True), LHServer(EPSILON, DOMAIN, use_olh=True)),
        "Hadamard": hadamard,
    }
    return {name: lambda values, make=make: ask(*make(), values) for name, make in makers.items()}


def multi_freq_ldpy():
    """Clients are functions of one value, and optimal if nothing is said; estimates are clipped shares."""
    from multi_freq_ldpy.pure_frequency_oracles import GRR, LH, SS, UE

    def ask(client, aggregate, values):
        return aggregate([client(int(value)) for value in values])

    return {
        "k-ary response": lambda values: ask(
            lambda value: GRR.GRR_Client(value, DOMAIN, EPSILON),
            lambda reports: GRR.GRR_Aggregator_MI(reports, DOMAIN, EPSILON),
            values,
        ),
        "optimal unary": lambda values: ask(
            lambda value: UE.UE_Client(value, DOMAIN, EPSILON),
            lambda reports: UE.UE_Aggregator_MI(reports, EPSILON),
            values,
        ),
        "local hashing": lambda values: ask(
            lambda value: LH.LH_Client(value, DOMAIN, EPSILON),
            lambda reports: LH.LH_Aggregator_MI(reports, DOMAIN, EPSILON),
            values,
        ),
        "subset selection": lambda values: ask(
            lambda value: SS.SS_Client(value, DOMAIN, EPSILON),
            lambda reports: SS.SS_Aggregator_MI(reports, DOMAIN, EPSILON),
            values,
        ),
    }


def main() -> None:
    name, people = sys.argv[1], int(sys.argv[2])
    ways = {"pure-ldp": pure_ldp, "multi-freq-ldpy": multi_freq_ldpy}[name]()
    values = np.arange(people) % DOMAIN
    found = {}
    for encoder, ask in ways.items():
        ask(values[:50])
        start = time.process_time()
        ask(values)
        found[encoder] = time.process_time() - start
    print(json.dumps(found))


if __name__ == "__main__":
    main()
