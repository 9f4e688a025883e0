.include "micro.inc"
begin
.rept REPEAT
  s_sleep VALUE
.endr
end
