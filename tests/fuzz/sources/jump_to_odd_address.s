// The program counter between two instructions.
s_getpc_b64 s[4:5]
s_add_u32 s4, s4, 2
s_setpc_b64 s[4:5]
s_endpgm
