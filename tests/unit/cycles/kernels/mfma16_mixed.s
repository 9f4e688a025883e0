.include "micro.inc"
begin
.rept REPEAT
  mfma16
  repeat_alu 3
  mfma16
  repeat_exp 1
.endr
end
