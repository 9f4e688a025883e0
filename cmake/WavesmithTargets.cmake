# One CMake target per folder, one set of warnings for all of them.

add_library(wavesmith_options INTERFACE)
target_include_directories(wavesmith_options INTERFACE ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR})
target_compile_options(wavesmith_options INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Werror -Wno-missing-field-initializers>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 sees overlapping copies in std::string's own operator+ (GCC bug 105329), and an ambiguous
  # else in GoogleTest's macros under an if; clang judges the latter in every other build.
  target_compile_options(wavesmith_options INTERFACE -Wno-restrict -Wno-dangling-else)
endif()
if(WAVESMITH_SANITIZER)
  target_compile_options(wavesmith_options INTERFACE
    -fsanitize=${WAVESMITH_SANITIZER} -fno-omit-frame-pointer)
  target_link_options(wavesmith_options INTERFACE -fsanitize=${WAVESMITH_SANITIZER})
  if(WAVESMITH_SANITIZER MATCHES "address")
    target_compile_options(wavesmith_options INTERFACE -fsanitize=undefined)
    target_link_options(wavesmith_options INTERFACE -fsanitize=undefined)
  endif()
endif()
if(WAVESMITH_FUZZ)
  # Coverage for libFuzzer in every target; only the fuzzers link its main.
  target_compile_options(wavesmith_options INTERFACE -fsanitize=fuzzer-no-link)
endif()

# wavesmith_library(<name> SOURCES ... [DEPS ...] [PRIVATE_DEPS ...] [SHARED])
# A folder's library. DEPS are linked publicly, PRIVATE_DEPS are not passed on.
function(wavesmith_library name)
  cmake_parse_arguments(ARG "SHARED" "" "SOURCES;DEPS;PRIVATE_DEPS" ${ARGN})
  if(ARG_SHARED)
    add_library(${name} SHARED ${ARG_SOURCES})
  else()
    add_library(${name} STATIC ${ARG_SOURCES})
  endif()
  target_link_libraries(${name} PUBLIC wavesmith_options ${ARG_DEPS} PRIVATE ${ARG_PRIVATE_DEPS})
endfunction()

# wavesmith_test(<name> SOURCES ... DEPS ... [LABELS ...])
# A GoogleTest binary; every test in it becomes a CTest test.
function(wavesmith_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS;LABELS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE wavesmith_options ${ARG_DEPS} GTest::gtest_main GTest::gmock)
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60
    PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT 600)
endfunction()
