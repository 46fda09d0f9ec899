# SPDX-License-Identifier: GPL-2.0
"""Topology files of kiwictl: made, read, drawn and refused, without a device."""

import json
import re
import subprocess

from machine import BUILD, TOP
from scenario import hosttest

SCHEMA = TOP / "tools/kiwictl/topology.schema.json"
GENERATED = ("mesh 2", "mesh 4", "mesh 33", "spine-leaf 2 0 1", "spine-leaf 8 0 4",
             "spine-leaf 16 4 2", "spine-leaf 256 16 16")

# What a file says, where the fault is, a word of what is said of it, and whether the schema, which
# sees no more than one place at a time, refuses it too.
ONE = "nodes: [{name: a, ports: 1}]\n"
TWO = "nodes: [{name: a, accel: 0, ports: 1}, {name: b, accel: 1, ports: 2}]\n"
BAD = (
    ("nodes: []\nlinks: []", "1:8", "0 nodes", True),
    ("[]", "1:1", "no mapping", True),
    (ONE, "1:1", "links", True),
    ("links: []", "1:1", "nodes", True),
    (ONE + "links: []\nnode: 1", "3:1", "'node'", True),
    (ONE + "links: []\nlinks: []", "3:1", "twice", False),
    (ONE + "links: 5", "2:8", "no list", True),
    (ONE + "links: []\nmax_hops: 0", "3:11", "1..255", True),
    (ONE + "links: []\nmax_hops: 256", "3:11", "'256'", True),
    (ONE + "links: []\nmax_hops: '9'", "3:11", "'9'", True),
    ("links: []\nnodes: [{name: a}]", "2:9", "ports", True),
    ("links: []\nnodes: [{ports: 1}]", "2:9", "name", True),
    ("links: []\nnodes: [{name: a, ports: 33}]", "2:26", "0..32", True),
    ("links: []\nnodes: [{name: a, ports: -1}]", "2:26", "'-1'", True),
    ("links: []\nnodes: [{name: a, ports: 1.5}]", "2:26", "'1.5'", True),
    ("links: []\nnodes: [{name: a/b, ports: 1}]", "2:16", "letters", True),
    (f"links: []\nnodes: [{{name: {'a' * 33}, ports: 1}}]", "2:16", "1..32", True),
    ("links: []\nnodes: [{name: a, ports: 1, accel: 1024}]", "2:36", "0..1023", True),
    ("links: []\nnodes: [{name: a, ports: 1, forwards: 1}]", "2:39", "'1'", True),
    ("links: []\nnodes: [{name: a, ports: 1, colour: red}]", "2:29", "'colour'", True),
    ("links: []\nnodes: [{name: a, ports: 1}, {name: a, ports: 1}]", "2:", "named 'a'", False),
    ("links: []\nnodes: [{name: a, ports: 1, accel: 7}, {name: b, ports: 1, accel: 7}]", "2:40",
     "accelerator 7", False),
    (TWO + "links: [[a/0]]", "2:9", "1 ends", True),
    (TWO + "links: [[a/0, b/0, b/1]]", "2:9", "3 ends", True),
    (TWO + "links: [[a/0, c/0]]", "2:15", "no node 'c'", False),
    (TWO + "links: [[a/0, b]]", "2:15", "NODE/PORT", True),
    (TWO + "links: [[a/0, b/2]]", "2:15", "below 2", False),
    (TWO + "links: [[a/0, b/01]]", "2:15", "'b/01'", True),
    (TWO + "links: [[a/0, b/0], [b/1, a/0]]", "2:27", "link 0", False),
    (TWO + "links: [[b/0, b/1]]", "2:9", "one node", False),
    (TWO + "links: [[a/0, b/0]", "3:1", "expected", None),
)


def kiwictl(words, text=None, status=0):
    done = subprocess.run([BUILD / "bin/kiwictl", *words.split()], input=text, text=True,
                          capture_output=True, check=False, timeout=60)
    assert done.returncode == status, (words, text, done)
    assert bool(done.stderr) == bool(status), done
    return done.stderr if status else done.stdout


def graph(topology):
    """Nodes and links without the order of ends."""
    nodes = {n["name"]: (n.get("accel"), n["ports"], n["forwards"]) for n in topology["nodes"]}
    return nodes, {frozenset(ends) for ends in topology["links"]}


def reaches_all(topology):
    """Whether each die reaches each other in max_hops, through nodes that forward."""
    nodes, links = graph(topology)
    beside = {name: set() for name in nodes}
    for link in links:
        a, b = (end.split("/")[0] for end in link)
        beside[a].add(b)
        beside[b].add(a)
    dies = {name for name, (accel, _, _) in nodes.items() if accel is not None}
    for die in dies:
        seen, edge = {die}, {die}
        for _ in range(topology["max_hops"]):
            edge = {other for name in edge if name == die or nodes[name][2]
                    for other in beside[name]} - seen
            seen |= edge
        if not dies <= seen:
            return False
    return True


@hosttest("userspace.topology")
def topologies(log):
    """What is generated is what its name says, in YAML and JSON, and fits the schema."""
    import jsonschema   # pylint: disable=import-outside-toplevel
    import yaml         # pylint: disable=import-outside-toplevel
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    valid = jsonschema.Draft202012Validator(schema).is_valid

    for words in GENERATED:
        made = json.loads(kiwictl(f"--json g2g generate {words}"))
        text = kiwictl(f"g2g generate {words}")
        assert valid(made) and yaml.safe_load(text) == made, words
        file = log / "topology.yaml"
        file.write_text(text, encoding="utf-8")
        assert json.loads(kiwictl(f"--json g2g topology {file}")) == made, words
        assert reaches_all(made), words
        kind, dies, *more = words.split()
        nodes, links = graph(made)
        dies, more = int(dies), [int(n) for n in more]
        if kind == "mesh":
            assert len(links) == dies * (dies - 1) // 2 and len(nodes) == dies, words
        else:
            leaves, spines = more
            assert len(nodes) == dies + leaves + spines, words
            assert len(links) == (dies if leaves else 0) + (leaves or dies) * spines, words
        dot = kiwictl("g2g topology - dot", text)
        assert dot.count(" -- ") == len(links) and dot.count("shape") == len(nodes), words

    drawn = kiwictl("g2g topology -", kiwictl("g2g generate mesh 4"))
    assert "4 dies, 0 switches, 6 links" in drawn and "|-2 --- die3/0" in drawn, drawn
    assert "33 ports" not in kiwictl("g2g generate mesh 34", status=2)
    assert "more than 32 ports" in kiwictl("g2g generate spine-leaf 64 1 1", status=1)

    for text, where, word, by_schema in BAD:
        said = kiwictl("g2g topology -", text, status=1)
        assert f"-:{where}" in said and word in said, (text, said)
        if by_schema is not None:
            assert valid(yaml.safe_load(text)) != by_schema, text
    assert "nothing is in it" in kiwictl("g2g topology -", "", status=1)
    assert "No such file" in kiwictl(f"g2g topology {log}/none", status=1)


@hosttest("userspace.kiwictl-g2g")
def words_refused(_log):
    """Command lines that are wrong, and devices that are not there, are told apart."""
    handle = "00" * 16
    wrong = (
        "g2g", "g2g fabric", "g2g fabric frob", "g2g ports", "g2g port set g2g0", "g2g topology",
        "g2g topology a b", "g2g generate ring 4", "g2g generate mesh 1", "g2g wait g2g0 fabric",
        "g2g wait g2g0 fabric FROB", "g2g wait g2g0 peer 0 within", "g2g wait g2g0 moon 3",
        "g2g port set g2g0 0 lanes 256", "g2g port set g2g0 0 mtu 512", "g2g port set g2g0 32 up",
        "g2g port set g2g0 0 sideways", "g2g port set g2g0 0 fec rs1", "g2g port set g2g0 0 flow",
        "g2g fabric configure g2g0 accel 1", "g2g fabric configure g2g0 pod 1234 accel 1",
        "g2g fabric configure g2g0 pod 5d0c1e7a-6b48-4f02-9f3c-e4d7a1b2c3d accel 1",
        "g2g fabric configure g2g0 pod 5d0c1e7a-6b48-4f02-9f3c-e4d7a1b2c3d4 accel 1024",
        "g2g routes stage g2g0", "g2g routes commit g2g0 now", "g2g routes show g2g0 future",
        "g2g image load g2g0 1", "g2g image load g2g0 256 x", "g2g peer isolate g2g0",
        "g2g export g2g0", "g2g export g2g0 to 1024", "g2g export g2g0 to 1 rights x",
        "g2g export g2g0 to 1 bytes 0", "g2g import g2g0 1", "g2g import g2g0 1 abc",
        f"g2g import g2g0 1 {handle} read 0", f"g2g import g2g0 1 {handle} erase 0 1",
        "g2g events g2g0 count", "g2g events g2g0 frob",
    )
    for words in wrong:
        kiwictl(words, status=2)
    missing = (
        "g2g ports g2g99", "g2g peers g2g99", "g2g fabric show g2g99", "g2g log g2g99",
        "g2g fabric configure g2g99 pod 5d0c1e7a-6b48-4f02-9f3c-e4d7a1b2c3d4 accel 1",
        "g2g port set g2g99 all up lanes 0x3", "g2g wait g2g99 fabric active within 5",
        "g2g export g2g99 to 1,2,3", f"g2g import g2g99 1 {handle} read 0 8 write 0 hello add 0 1",
        "g2g image load g2g99 1 sue.img", "g2g events g2g99 count 1 within 5",
        "g2g routes show g2g99 staged", "g2g fabric activate g2g99 within 10",
    )
    for words in missing:
        assert "g2g99" in kiwictl(words, status=1), words
    assert "'snic0'" in kiwictl("g2g ports snic0", status=1)


@hosttest("userspace.kiwictl-manual")
def manual(_log):
    """Each command of kiwictl is in its manual, and none is made up."""
    page = (TOP / "Documentation/man/kiwictl.1").read_text(encoding="utf-8")
    told = set(re.findall(r"^\.It Cm ([a-z2 ]+?)(?: (?:Ar|Op|Cm) .*)?$", page, re.MULTILINE))
    helped = set(re.findall(r"^  ([a-z][a-z2 ]*?)(?:  | [A-Z[]| mesh ).*$", kiwictl("--help"),
                            re.MULTILINE))
    assert len(told) > 30 and told == helped, told ^ helped
