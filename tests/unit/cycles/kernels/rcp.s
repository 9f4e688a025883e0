.include "micro.inc"
begin
.rept REPEAT
  v_rcp_f32_e32 v44, v45
.endr
end
