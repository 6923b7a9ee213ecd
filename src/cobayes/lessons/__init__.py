"""Lessons: teacher and learner, one lesson, and many lessons at once."""

from cobayes.lessons.agents import Learner, Teacher
from cobayes.lessons.classes import ClassTeacher
from cobayes.lessons.ensemble import Ensemble, RoundsNeeded
from cobayes.lessons.lesson import Lesson, run_lesson
from cobayes.lessons.planning import plan_lesson
from cobayes.lessons.simulate import simulate
from cobayes.lessons.teacher_comparison import TeacherComparison, compare_teachers

__all__ = [
    "ClassTeacher",
    "Ensemble",
    "Learner",
    "Lesson",
    "RoundsNeeded",
    "Teacher",
    "TeacherComparison",
    "compare_teachers",
    "plan_lesson",
    "run_lesson",
    "simulate",
]
