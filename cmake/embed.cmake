# Writes OUT: `const struct embedded_file SYMBOL[]` with the bytes of each of FILES ('|'-separated).
string(REPLACE "|" ";" FILES "${FILES}")
set(arrays "")
set(rows "")
set(i 0)
foreach(file IN LISTS FILES)
  get_filename_component(name "${file}" NAME_WLE)
  file(READ "${file}" hex HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
  string(REGEX REPLACE "(................................................................................)" "\\1\n" bytes "${bytes}")
  string(APPEND arrays "static const unsigned char bytes_${i}[] = {\n${bytes}0x00};\n")
  string(APPEND rows "    {\"${name}\", bytes_${i}, sizeof bytes_${i} - 1},\n")
  math(EXPR i "${i} + 1")
endforeach()
file(WRITE "${OUT}" "#include \"roofline/embedded.h\"\n\n${arrays}\n"
  "extern const struct embedded_file ${SYMBOL}[];\n"
  "const struct embedded_file ${SYMBOL}[] = {\n${rows}    {0, 0, 0},\n};\n")
