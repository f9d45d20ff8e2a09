"""Prints how many tests of a JUnit XML file passed."""
import sys
import xml.etree.ElementTree as ElementTree

cases = ElementTree.parse(sys.argv[1]).getroot().iter("testcase")
print(sum(1 for case in cases
          if not any(case.find(tag) is not None
                     for tag in ("failure", "error", "skipped"))))
