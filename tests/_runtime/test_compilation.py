"""Compilations are announced, and Ctrl-C during one leaves a usable interpreter."""

import os
import subprocess
import sys
import textwrap

import pytest


def run(code, cache):
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        env={**os.environ, "NUMBA_CACHE_DIR": str(cache)},
    )


def test_every_compilation_that_takes_long_is_announced(tmp_path):
    # Patience of no time at all, so that nothing depends on the speed of the machine.
    code = """
        import logging
        import time
        from cobayes._runtime import compilation
        compilation.PATIENCE = 0.0
        from cobayes._runtime.compiled import compiled

        logging.basicConfig(level=logging.INFO, format="%(levelname)s %(message)s")

        @compiled()
        def add(x, y):
            return x + y

        add(1, 2), add(1, 2), add(1.0, 2.0)
        """
    (tmp_path / "program.py").write_text(textwrap.dedent(code))
    for num_compiled in (2, 0):  # the second time both are loaded from the cache
        found = run(f"import runpy; runpy.run_path({str(tmp_path / 'program.py')!r})", tmp_path)
        assert found.returncode == 0, found.stderr
        assert found.stderr.count("INFO compiling numerical code") == num_compiled
        assert found.stderr.count("INFO compiled in") == num_compiled


def test_the_library_itself_is_silent_about_compilation(tmp_path):
    code = "from cobayes.lessons.drawing import draw; import numpy as np; draw(np.ones(1), 0.5)"
    for _ in ("compiling", "loading"):
        found = run(code, tmp_path)
        assert (found.returncode, found.stderr) == (0, "")


def test_the_command_line_announces_compilation_on_stderr(tmp_path):
    code = """
        import sys
        from cobayes._runtime import compilation
        compilation.PATIENCE = 0.0
        from cobayes.cli.app import app
        app(["rates", "example:M_1"])
        """
    found = run(code, tmp_path)
    assert found.returncode == 0, found.stderr
    assert found.stderr.count("compiling numerical code") == 1  # of several kernels
    assert "cobayes warm-up" in found.stderr
    assert "compil" not in found.stdout


@pytest.mark.parametrize("moment", ["load", "start", "middle"])
def test_an_interrupt_while_compiling_leaves_a_usable_interpreter(tmp_path, moment):
    # The signal is raised at a fixed place of the compilation, not after some time.
    code = f"""
        import signal
        import numba.core.base
        import numba.core.typed_passes
        import numba.core.typing.context
        import numpy as np
        from cobayes.lessons.drawing import draw

        places = {{
            "load": (numba.core.typing.context.BaseContext, "refresh"),
            "start": (numba.core.base.BaseContext, "refresh"),
            "middle": (numba.core.typed_passes.NopythonTypeInference, "run_pass"),
        }}
        owner, name = places[{moment!r}]
        original = getattr(owner, name)

        def interrupted(*arguments):
            setattr(owner, name, original)
            signal.raise_signal(signal.SIGINT)
            return original(*arguments)

        setattr(owner, name, interrupted)
        try:
            draw(np.array([0.5, 0.5]), 0.7)
            print("not interrupted")
        except KeyboardInterrupt:
            print("interrupted")
        print(draw(np.array([0.5, 0.5]), 0.7))
        """
    found = run(code, tmp_path)
    assert found.stdout.split() == ["interrupted", "1"], found.stderr


def test_a_second_interrupt_is_obeyed_at_once():
    code = """
        import signal
        from cobayes._runtime.compilation import attended

        def compile_kernel():
            signal.raise_signal(signal.SIGINT)
            print("first")
            signal.raise_signal(signal.SIGINT)
            print("second")

        try:
            attended(compile_kernel)()
        except KeyboardInterrupt:
            print("stopped", signal.getsignal(signal.SIGINT) is signal.default_int_handler)
        """
    found = run(code, "cache")
    assert found.stdout.split() == ["first", "stopped", "True"], found.stderr


def test_a_compilation_that_several_threads_wait_for_is_announced_once(tmp_path):
    code = """
        import logging
        import threading
        import time
        from cobayes._runtime import compilation
        compilation.PATIENCE = 0.0

        logging.basicConfig(level=logging.INFO, format="%(levelname)s %(message)s")
        first_is_announced, second_is_over = threading.Event(), threading.Event()

        def first():
            with compilation._announced() as begin:
                begin()
                while not compilation._notice.locked():
                    pass
                first_is_announced.set()
                second_is_over.wait()

        def second():
            first_is_announced.wait()
            with compilation._announced() as begin:
                begin()
                time.sleep(0.1)
            second_is_over.set()

        threads = [threading.Thread(target=first), threading.Thread(target=second)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not compilation._notice.locked()
        """
    found = run(code, tmp_path)
    assert found.returncode == 0, found.stderr
    assert found.stderr.count("INFO compiling numerical code") == 1
    assert found.stderr.count("INFO compiled in") == 1
