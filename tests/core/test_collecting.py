from __future__ import annotations

import gc
import threading

import pytest

from core import collecting


def test_the_collector_is_off_inside_and_as_before_afterwards() -> None:
    assert gc.isenabled()
    with collecting.paused():
        assert not gc.isenabled()
        with collecting.paused():
            pass
        assert not gc.isenabled()
    assert gc.isenabled()


def test_it_is_on_again_after_an_error_and_stays_off_where_it_was_off() -> None:
    with pytest.raises(ZeroDivisionError), collecting.paused():
        raise ZeroDivisionError
    assert gc.isenabled()
    gc.disable()
    try:
        with collecting.paused():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_the_last_of_several_threads_puts_it_back() -> None:
    inside, leave = threading.Barrier(3), [threading.Event(), threading.Event()]

    def read(n: int) -> None:
        with collecting.paused():
            inside.wait(60)
            assert leave[n].wait(60)

    threads = [threading.Thread(target=read, args=(n,)) for n in range(2)]
    for thread in threads:
        thread.start()
    inside.wait(60)
    leave[0].set()
    threads[0].join()
    assert not gc.isenabled()
    leave[1].set()
    threads[1].join()
    assert gc.isenabled()


def test_what_is_set_aside_is_not_walked_until_taken_back() -> None:
    try:
        collecting.set_aside()
        assert gc.get_freeze_count() > 0
    finally:
        collecting.take_back()
    assert gc.get_freeze_count() == 0
