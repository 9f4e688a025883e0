// Two files of DWARF 4; rows by every kind of opcode.
  .file 1 "lib" "part.cl"
  .file 2 "/src/main.cl"
  .text
f:
  .loc 1 7 3
  s_nop 0
  .loc 1 1000 0
  s_nop 1
  .loc 2 12 9 prologue_end
  .fill 40, 4, 0xbf800000
  .loc 1 0 0
  s_nop 2
  .loc 1 9 1 is_stmt 0
  s_endpgm
