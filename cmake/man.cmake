# tts_man_page(source name): makes a man page with scdoc in man/ of the build tree and installs
# it. Its section is the last character of the name.
if(TTS_MAN)
    find_program(TTS_SCDOC scdoc)
endif()

function(tts_man_page source name)
    if(NOT TTS_MAN OR NOT TTS_SCDOC)
        return()
    endif()
    set(input ${CMAKE_CURRENT_SOURCE_DIR}/${source})
    set(output ${PROJECT_BINARY_DIR}/man/${name})
    add_custom_command(OUTPUT ${output} DEPENDS ${input}
        COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/man
        COMMAND ${TTS_SCDOC} < ${input} > ${output})
    add_custom_target(man_${name} ALL DEPENDS ${output})
    string(REGEX MATCH "[0-9]$" section ${name})
    install(FILES ${output} DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section})
endfunction()
