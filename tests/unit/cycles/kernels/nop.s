.include "micro.inc"
begin
.rept REPEAT
  s_nop VALUE
.endr
end
