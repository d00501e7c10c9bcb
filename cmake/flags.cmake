# tts_flags: the compiler flags of every file of the project. tts_room(): makes one room one
# target.
add_library(tts_flags INTERFACE)
target_compile_features(tts_flags INTERFACE c_std_17)
target_compile_definitions(tts_flags INTERFACE _GNU_SOURCE
    $<$<BOOL:${TTS_EXPENSIVE_CHECKS}>:TTS_EXPENSIVE_CHECKS>)
target_compile_options(tts_flags INTERFACE
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion
    $<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes;-Wmissing-prototypes>
    -Wswitch-enum -Wvla -Wundef -Wformat=2 -Wcast-align -Wwrite-strings -Wno-psabi
    $<$<BOOL:${TTS_WERROR}>:-Werror>
    -fno-semantic-interposition)

if(TTS_SANITIZE)
    target_compile_options(tts_flags INTERFACE -fsanitize=${TTS_SANITIZE}
                           -fno-sanitize-recover=all -fno-omit-frame-pointer)
    target_link_options(tts_flags INTERFACE -fsanitize=${TTS_SANITIZE})
endif()
if(TTS_FUZZ)
    target_compile_options(tts_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()

# Flags for the few files that are compiled a second time for processors with AVX2
# (tts_cpu_has_avx2()).
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
    set(TTS_AVX2_OPTIONS -mavx2 -mbmi -mbmi2 -mlzcnt)
endif()

# -O2 makes the library a fifth smaller than CMake's -O3, and no measured path slower.
if(PROJECT_IS_TOP_LEVEL)
    string(REPLACE "-O3" "-O2" CMAKE_C_FLAGS_RELEASE "${CMAKE_C_FLAGS_RELEASE}")
endif()
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
if(PROJECT_IS_TOP_LEVEL AND CMAKE_C_COMPILER_ID STREQUAL "GNU" AND CMAKE_BUILD_TYPE STREQUAL "Release")
    include(CheckIPOSupported)
    check_ipo_supported(RESULT TTS_IPO LANGUAGES C)
    set(CMAKE_INTERPROCEDURAL_OPTIMIZATION ${TTS_IPO})
    # Links in parallel. GCC needs make for this; without make it prints warnings in each link.
    set(CMAKE_C_COMPILE_OPTIONS_IPO -flto=auto -fno-fat-lto-objects)
endif()

# tts_room(name SOURCES file... [USES room...])
function(tts_room name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;USES")
    add_library(tts_${name} STATIC ${arg_SOURCES})
    target_include_directories(tts_${name} PUBLIC ${PROJECT_SOURCE_DIR}/include
                               ${PROJECT_SOURCE_DIR}/src)
    target_link_libraries(tts_${name} PUBLIC tts_flags)
    foreach(room IN LISTS arg_USES)
        target_link_libraries(tts_${name} PUBLIC tts_${room})
    endforeach()
endfunction()
