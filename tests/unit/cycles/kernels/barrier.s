.include "micro.inc"
begin
.rept REPEAT
  s_barrier
.endr
end
