# Templates.inc: the text of every template, so that the compiler library needs no files at run
# time. Run with -DROOT= -DOUTPUT=.
file(GLOB files ${ROOT}/templates/*.mlir)
list(SORT files)
set(text "constexpr BuiltinTemplate kBuiltinTemplates[] = {\n")
foreach(file ${files})
  get_filename_component(name ${file} NAME_WE)
  file(READ ${file} content)
  string(APPEND text "{\"${name}\", R\"mlir(${content})mlir\"},\n")
endforeach()
string(APPEND text "};\n")
file(WRITE ${OUTPUT} "${text}")
