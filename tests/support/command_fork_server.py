"""Run `muniment` commands in forks of this process: `python -m tests.support.command_fork_server`.

Each line of the input is a command: arguments, environment, folder, and files for output and errors. Each line of
the output is an exit code. A fork behaves like a new process, but does not have to load the libraries, which takes a
second.
"""

import importlib
import json
import os
import pkgutil
import sys
import traceback

import muniment.api
import muniment.bootstrap.maintenance
import muniment.cli


def main() -> None:
    for module in pkgutil.iter_modules(muniment.cli.__path__, "muniment.cli."):
        importlib.import_module(module.name)
    for line in iter(sys.stdin.readline, ""):
        pid = os.fork()
        if not pid:
            become_command(**json.loads(line))
            os._exit(run())
        _, status = os.waitpid(pid, 0)
        sys.stdout.write(f"{os.waitstatus_to_exitcode(status)}\n")
        sys.stdout.flush()


def run() -> int:
    """Return the exit code. Exit handlers are skipped: they would wait for threads that do not exist in a fork."""
    try:
        muniment.cli.main()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:  # noqa: BLE001 as the interpreter itself does
        traceback.print_exc()
        return 1
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
    return 0


def become_command(arguments: list[str], environment: dict[str, str], folder: str, stdout: str, stderr: str) -> None:
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    sys.argv = ["muniment", *arguments]
    for number, path, flags in ((0, os.devnull, os.O_RDONLY), (1, stdout, os.O_WRONLY), (2, stderr, os.O_WRONLY)):
        os.dup2(os.open(path, flags), number)


if __name__ == "__main__":
    main()
