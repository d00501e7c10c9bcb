# Run by `cmake --install`: installs the Python package in the directory below the prefix that
# python3 searches for packages, or else in lib/python3/dist-packages, which users then add to
# PYTHONPATH.
execute_process(COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/python_directory.py ${CMAKE_INSTALL_PREFIX}
                OUTPUT_VARIABLE directory OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE result ERROR_QUIET)
if(NOT result EQUAL 0)
    set(directory ${CMAKE_INSTALL_PREFIX}/lib/python3/dist-packages)
endif()
file(INSTALL ${CMAKE_CURRENT_LIST_DIR}/../bindings/python/ttscope DESTINATION ${directory}
     PATTERN __pycache__ EXCLUDE)
