"""Prints how many tests of a JUnit XML file passed: of all, or of the class
that the second argument names."""
import sys
import xml.etree.ElementTree as ElementTree

cases = ElementTree.parse(sys.argv[1]).getroot().iter("testcase")
print(sum(1 for case in cases
          if sys.argv[2:] in ([], [case.get("classname")])
          and not any(case.find(tag) is not None
                      for tag in ("failure", "error", "skipped"))))
