.include "micro.inc"
begin
.rept REPEAT
  s_add_u32 s8, s9, s10
.endr
end
