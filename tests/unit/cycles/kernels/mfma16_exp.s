.include "micro.inc"
begin
.rept REPEAT
  mfma16
  repeat_exp VALUE
.endr
end
