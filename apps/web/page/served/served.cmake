# Makes the page that `tern serve` has at /: -DPAGE=apps/web/page -DOUTPUT=share/tern/web. It is the same page, file by
# file, without what only an engine in the tab needs; its index.html says that the server is the engine. No Node, no
# Emscripten.
set(not_served README.md package.json make_shell.mjs sw.js dev test node_modules served/sw.js served/served.cmake icons
    manifest.webmanifest)
set(for_all OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)

file(REMOVE_RECURSE ${OUTPUT})
file(GLOB_RECURSE files RELATIVE ${PAGE} ${PAGE}/*)
foreach(file IN LISTS files)
  string(REGEX MATCH "^[^/]+" first ${file})
  if(NOT first IN_LIST not_served AND NOT file IN_LIST not_served)
    get_filename_component(folder ${file} DIRECTORY)
    file(COPY ${PAGE}/${file} DESTINATION ${OUTPUT}/${folder} FILE_PERMISSIONS ${for_all})
  endif()
endforeach()
# What a browser has kept of a page with an engine of its own, from the same address, makes way.
file(COPY ${PAGE}/served/sw.js DESTINATION ${OUTPUT} FILE_PERMISSIONS ${for_all})

file(READ ${PAGE}/index.html html)
function(change from to)
  string(FIND "${html}" "${from}" at)
  if(at EQUAL -1)
    message(FATAL_ERROR "apps/web/page/index.html has no longer: ${from}")
  endif()
  string(REPLACE "${from}" "${to}" html "${html}")
  set(html "${html}" PARENT_SCOPE)
endfunction()
change([[<html lang="en">]] [[<html lang="en" data-engine="server">]])
change([[script-src 'self' 'wasm-unsafe-eval']] [[script-src 'self']])
change([[connect-src * blob: data:]] [[connect-src 'self']])
change([[worker-src 'self' blob:]] [[worker-src 'none']])
change([[runs in this tab. What you write stays in it.]] [[runs on this server.]])
change([[A language model, in this tab.]] [[A language model, on this server.]])
change([[<link rel="stylesheet" href="style.css">]]
       [[<link rel="stylesheet" href="style.css"><link rel="stylesheet" href="served/served.css">]])
change([[<link rel="apple-touch-icon" href="icons/apple-180.png">]] "")
change([[<link rel="manifest" href="manifest.webmanifest">]] "")
change([[<link rel="modulepreload" href="tern/index.js">]] [[<link rel="modulepreload" href="served/served.js">]])
file(WRITE ${OUTPUT}/index.html "${html}")
