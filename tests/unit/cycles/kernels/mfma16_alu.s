.include "micro.inc"
begin
.rept REPEAT
  mfma16
  repeat_alu VALUE
.endr
end
