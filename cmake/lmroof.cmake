# Flags, dependencies and the two helpers that every folder's list uses.
find_package(PkgConfig REQUIRED)
find_package(OpenMP REQUIRED COMPONENTS C)
find_package(MPI QUIET COMPONENTS C) # lmroof-fleet alone
pkg_check_modules(HWLOC REQUIRED IMPORTED_TARGET hwloc)
pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson)
find_path(PAPI_INCLUDE_DIR papi.h REQUIRED)
find_library(PAPI_LIBRARY papi REQUIRED)

add_library(lmroof_flags INTERFACE)
target_compile_definitions(lmroof_flags INTERFACE _GNU_SOURCE)
target_include_directories(lmroof_flags INTERFACE "${PROJECT_SOURCE_DIR}")
target_compile_options(lmroof_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wdouble-promotion
  -Wfloat-equal -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wundef -Wcast-qual
  -Wwrite-strings -Wformat=2 -Wswitch-enum -Wnull-dereference
  $<$<C_COMPILER_ID:GNU>:-Wlogical-op;-Wduplicated-cond;-Wduplicated-branches>
  # Fields of text are cut to their size by design; clang has no such warning.
  $<$<C_COMPILER_ID:GNU>:-Wno-format-truncation>
  $<$<BOOL:${LMROOF_WERROR}>:-Werror>
  -fno-math-errno -fno-common
  -UNDEBUG) # asserts are kept in every build type
if(LMROOF_SANITIZE)
  target_compile_options(lmroof_flags INTERFACE
    -fsanitize=${LMROOF_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(lmroof_flags INTERFACE -fsanitize=${LMROOF_SANITIZE})
endif()

# lmroof_library(FOLDER): the static library lmroof_FOLDER; sources are added by the folder.
function(lmroof_library folder)
  add_library(lmroof_${folder} STATIC ${ARGN})
  target_link_libraries(lmroof_${folder} PUBLIC lmroof_flags)
  if(LMROOF_ANALYZER AND CMAKE_C_COMPILER_ID STREQUAL "GNU")
    # gcc 12 loses sight of structs returned by value and calls them uninitialized.
    target_compile_options(lmroof_${folder} PRIVATE
                           -fanalyzer -Wno-analyzer-use-of-uninitialized-value)
  endif()
endfunction()

# lmroof_registry(TARGET TYPE SUBFOLDER NAME...): compiles SUBFOLDER/NAME.c for each NAME and
# generates <TYPE>_registry.inc, an X-macro list `X(NAME)`. One word here is the whole
# registration: the file defines `const struct TYPE TYPE_NAME`.
function(lmroof_registry target type subfolder)
  set(text "")
  foreach(name IN LISTS ARGN)
    target_sources(${target} PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}/${subfolder}/${name}.c")
    string(APPEND text "X(${name})\n")
  endforeach()
  file(CONFIGURE OUTPUT "${CMAKE_CURRENT_BINARY_DIR}/generated/${type}_registry.inc"
       CONTENT "${text}" @ONLY)
  target_include_directories(${target} PRIVATE "${CMAKE_CURRENT_BINARY_DIR}/generated")
endfunction()

# lmroof_embed(TARGET SYMBOL FILE...): makes each file's bytes part of the library as
# `const struct embedded_file SYMBOL[]` ended by a NULL name (roofline/embedded.h).
function(lmroof_embed target symbol)
  set(out "${CMAKE_CURRENT_BINARY_DIR}/generated/${symbol}.c")
  string(JOIN "|" files ${ARGN})
  add_custom_command(OUTPUT "${out}"
    COMMAND ${CMAKE_COMMAND} "-DOUT=${out}" "-DSYMBOL=${symbol}" "-DFILES=${files}"
            -P "${PROJECT_SOURCE_DIR}/cmake/embed.cmake"
    DEPENDS ${ARGN} "${PROJECT_SOURCE_DIR}/cmake/embed.cmake"
    COMMENT "Embedding ${symbol}" VERBATIM)
  target_sources(${target} PRIVATE "${out}")
endfunction()
