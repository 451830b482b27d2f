# SPDX-License-Identifier: Apache-2.0
"""--trace FILE: the timeline by another reader's rules: spans of a track nest, commands of a queue follow one another, flows have both ends, records add up
to those of the statistics; whole after a cancel, a kill and where the file cannot grow. usage: trace.py EXECUTABLE SOURCE"""
import json
import os
import random
import resource
import signal
import subprocess
import time

from run import FEATURES, IRIS, PROGRAM, check, expect_error, have_cpu, main, result, run, write_npy

RUN = ["--input", IRIS, *FEATURES, "--clusters", 3, "--seed", 1]
HOST, QUEUES = 1, {"in": 1, "compute": 2, "out": 3}
STAGES = ("assign", "move_center")      # of a turn: points find their centers, which move


def events_of(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)["traceEvents"]


def nanoseconds(event, key="ts"):
    return round(event[key] * 1000)


def spans_by_track(events):
    tracks = {}
    for e in events:
        if e["ph"] == "X":
            begin = nanoseconds(e)
            tracks.setdefault((e["pid"], e["tid"]), []).append((begin, begin + nanoseconds(e, "dur"), e))
    for spans in tracks.values():
        spans.sort(key=lambda s: (s[0], -s[1]))
    return tracks


def check_names(events):
    processes = {e["pid"]: e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "process_name"}
    tracks = {(e["pid"], e["tid"]) for e in events if e["ph"] == "M" and e["name"] == "thread_name"}
    check(processes.get(HOST) == "host", f"processes {processes}")
    for e in events:
        check(e["pid"] in processes, f"a process without a name: {e}")
        if e["ph"] == "X":
            check((e["pid"], e["tid"]) in tracks, f"a track without a name: {e}")
    return processes


def check_spans(tracks):
    for (process, track), spans in tracks.items():
        open_until = []
        for begin, end, e in spans:
            while open_until and begin >= open_until[-1]:
                open_until.pop()
            check(not open_until or process == HOST, f"two commands of a queue at once: {e}")
            check(not open_until or end <= open_until[-1], f"a span reaches out of the one around it: {e}")
            if end > begin:
                open_until.append(end)
            if process != HOST:
                check(track in QUEUES.values(), f"no queue of a device: {e}")
                check(0 < e["args"]["queued_ns"] <= e["args"]["submitted_ns"] <= begin + 1, f"out of order: {e}")


def check_flows(events, tracks):
    ends = {}
    for e in events:
        if e["ph"] in "sf":
            spans = tracks[(e["pid"], e["tid"])]
            check(any(begin <= nanoseconds(e) <= end for begin, end, _ in spans), f"a flow's end is in no span: {e}")
            ends.setdefault(e["id"], []).append(e)
    for flow in ends.values():
        check([e["ph"] for e in flow] == ["s", "f"], f"a flow without both ends: {flow}")
        check([e["tid"] for e in flow] == [QUEUES["in"], QUEUES["compute"]], f"not from a copy to a launch: {flow}")
        check(flow[0]["ts"] <= flow[-1]["ts"], f"a flow back in time: {flow}")
    return len(ends)


def checked(path):
    """The events, its spans by track, the number of flows and the names of processes, all looked at."""
    events = events_of(path)
    tracks = spans_by_track(events)
    processes = check_names(events)
    check_spans(tracks)
    return events, tracks, check_flows(events, tracks), processes


def records_of(tracks):
    return sum(e["args"].get("records", 0) for (process, _), spans in tracks.items() if process != HOST for _, _, e in spans if e["name"] in STAGES)


def the_interpreter_has_one_track():
    plain, traced = result(*RUN, "--device", "interp"), result(*RUN, "--device", "interp", "--trace", "t.json")
    check(plain["result"] == traced["result"], "a timeline changes the result")
    events, tracks, _, processes = checked("t.json")
    devices = {process: name for process, name in processes.items() if process != HOST}
    check(list(devices.values()) == ["interpreter"], f"devices {devices}")
    check([t for p, t in tracks if p != HOST] == [QUEUES["compute"]], f"tracks {list(tracks)}")
    check(records_of(tracks) == sum(d["records"] for d in traced["devices"]) > 0, "records of the timeline are not those of the statistics")
    names = {e["name"] for spans in tracks.values() for _, _, e in spans}
    spans = sorted((e for s in tracks.values() for _, _, e in s if e["name"] == "turn"), key=nanoseconds)
    check([e["args"]["turn"] for e in spans] == list(range(1, len(traced["turns"]) + 1)), f"turns {spans}")
    for told, turn in zip(spans, traced["turns"]):
        check(abs(told["args"]["value"] - turn["moved"]) <= 1e-8 * turn["moved"] and told["args"]["records"] == turn["records"], f"{told}, but {turn}")
    check({"hdst_cache", "hdst_loop", "stage", "prepare", "read into a segment"} <= names, f"host spans {names}")
    check({e["name"] for e in events if e["ph"] == "C"} == {"host memory", "device memory"}, "counters of memory")


def a_driver_times_its_commands():
    if not have_cpu():
        return
    write_npy("many.npy", 200000, 2, [random.random() for _ in range(400000)])
    many = ["--input", "many.npy", "--clusters", 4, "--init", "first", "--tolerance", 0, "--iterations", 4]
    traced = result(*many, "--device", "cpu", "--trace", "t.json")
    _, tracks, flows, processes = checked("t.json")
    device = [process for process in processes if process != HOST]
    check(len(device) == 1 and (device[0], QUEUES["in"]) in tracks, f"tracks {list(tracks)}")
    check(records_of(tracks) == sum(d["records"] for d in traced["devices"]) >= 800000, "records of the timeline are not those of the statistics")
    check(flows == len(tracks[(device[0], QUEUES["in"])]) > 0, f"{flows} flows from {len(tracks[(device[0], QUEUES['in'])])} copies to launches")
    seconds = sum(e["dur"] for _, _, e in tracks[(device[0], QUEUES["compute"])] if e["name"] in STAGES) * 1e-6
    busy = sum(d["busy_seconds"] for d in traced["devices"])
    check(abs(seconds - busy) <= 0.01 * busy + 1e-4, f"{seconds} s on the timeline, {busy} s in the statistics")
    span = [e for _, _, e in tracks[(device[0], QUEUES["compute"])]]
    host = [(begin, end) for (process, _), spans in tracks.items() if process == HOST for begin, end, e in spans if e["name"] == "stage"]
    check(all(host[0][0] - 1e6 <= nanoseconds(e) <= host[-1][1] + 1e6 for e in span if e["name"] == "assign"), "the device's clock is not the host's")


def each_copy_flows_to_the_launch_that_waits_for_it():
    if not have_cpu():
        return
    write_npy("streamed.npy", 1000000, 2, [random.random() for _ in range(2000000)])
    result("--input", "streamed.npy", "--clusters", 4, "--init", "first", "--iterations", 2, "--device", "cpu", "--memory", "6M", "--trace", "t.json")
    _, tracks, flows, _ = checked("t.json")
    copies = sum(len(spans) for (process, track), spans in tracks.items() if process != HOST and track == QUEUES["in"])
    check(flows == copies > 3, f"{flows} flows from {copies} copies")


def several_devices_are_several_processes():
    if not have_cpu():
        return
    os.environ.update(HDST_CPU_PARTS="2", HDST_SHARE_BYTES="0")
    traced = result("--input", "many.npy", "--clusters", 4, "--init", "first", "--device", "cpu", "--trace", "t.json", "--memory", "64M")
    for name in ("HDST_CPU_PARTS", "HDST_SHARE_BYTES"):
        del os.environ[name]
    _, tracks, _, processes = checked("t.json")
    if len(traced["devices"]) < 2:
        print("SKIP: the CPU device has no parts here")
        return
    check(len(processes) == 3, f"processes {processes}")
    check(records_of(tracks) == sum(d["records"] for d in traced["devices"]), "records of the timeline are not those of the statistics")
    check(any(e["name"] == "merge accumulators" for spans in tracks.values() for _, _, e in spans), "no merge on the timeline")


def start_long(path):
    arguments = ["--input", "long.npy", "--clusters", "4000", "--init", "first", "--tolerance", "0", "--iterations", "1000000", "--device", "interp"]
    child = subprocess.Popen([PROGRAM, *arguments, "--explain", "--trace", path], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    child.stderr.readline()
    return child


def wait_for_work(child, seconds):
    """Until it has had so much processor time more: on a busy machine it may have had next to none in any time."""
    def had():
        with open(f"/proc/{child.pid}/stat", encoding="utf-8") as file:
            return sum(map(int, file.read().rpartition(")")[2].split()[11:13])) / os.sysconf("SC_CLK_TCK")
    end = had() + seconds
    while child.poll() is None and had() < end:
        time.sleep(0.05)


def a_cancelled_run_leaves_a_whole_file():
    write_npy("long.npy", 1000000, 2, [random.random() for _ in range(2000000)])
    child = start_long("cancelled.json")
    wait_for_work(child, 0.5)
    child.send_signal(signal.SIGINT)
    child.communicate()
    check(child.returncode == 130, f"code {child.returncode}")
    _, tracks, _, _ = checked("cancelled.json")
    check(any(e["name"] == "stage" for spans in tracks.values() for _, _, e in spans), "what was done before the cancel is not there")


def a_killed_program_leaves_a_whole_file():
    child = start_long("killed.json")
    wait_for_work(child, 0.5)
    child.kill()
    child.communicate()
    check(events_of("killed.json") == [] or checked("killed.json"), "not whole")


def a_file_that_cannot_grow_is_told_once():
    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100000, 100000))
    # Iris converges in few steps; matrix-vector goes on.
    write_npy("matrix.npy", 8, 8, [random.random() for _ in range(64)])
    steps = ["--input", "matrix.npy", "--iterations", 500, "--device", "interp", "--json", "--trace", "full.json"]
    other = os.path.join(os.path.dirname(PROGRAM), "matrix-vector")
    done = subprocess.run([other, *map(str, steps)], stdin=subprocess.DEVNULL, capture_output=True, check=False, preexec_fn=limit, restore_signals=False)
    check(done.returncode == 0, f"code {done.returncode}: {done.stderr}")
    check(done.stderr.count(b"the timeline ends here: cannot write to it") == 1, f"{done.stderr}")
    check(0 < os.path.getsize("full.json") <= 100000, "size of the file")
    checked("full.json")


def a_file_that_cannot_be_made_is_an_error():
    expect_error(6, ["the timeline '/nowhere/t.json' cannot be written: No such file or directory"], *RUN, "--device", "interp", "--trace", "/nowhere/t.json")
    os.mkfifo("pipe")
    expect_error(6, ["the timeline 'pipe' cannot be written"], *RUN, "--device", "interp", "--trace", "pipe")
    expect_error(6, ["it is not a regular file"], *RUN, "--device", "interp", "--trace", "/dev/null")


main(the_interpreter_has_one_track, a_driver_times_its_commands, each_copy_flows_to_the_launch_that_waits_for_it, several_devices_are_several_processes,
     a_cancelled_run_leaves_a_whole_file, a_killed_program_leaves_a_whole_file, a_file_that_cannot_grow_is_told_once, a_file_that_cannot_be_made_is_an_error)
