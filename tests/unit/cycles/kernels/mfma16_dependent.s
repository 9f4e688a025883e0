.include "micro.inc"
begin
.rept REPEAT
  mfma16
.endr
end
