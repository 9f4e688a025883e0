.include "micro.inc"
begin
.rept REPEAT
  repeat_exp 1
  repeat_alu VALUE
.endr
end
