-- rmctl for nvim-dap 0.6.0 or later: debugs all processes of a parallel program.
-- Put these lines into init.lua, where nvim-dap is set up.
local dap = require("dap")

dap.adapters.rmctl = {
  type = "executable",
  command = "rmctl",
  args = { "debug", "--dap" },
  options = { initialize_timeout_sec = 20 },
}

-- Each rank is a thread. By default nvim-dap continues all threads that stop after the first one.
dap.defaults.rmctl.auto_continue_if_many_stopped = false

local function ask(text, default)
  return function()
    return vim.fn.input(text .. ": ", default)
  end
end

local configurations = {
  {
    type = "rmctl",
    request = "launch",
    name = "rmctl: launch a parallel program",
    program = ask("Program", vim.fn.getcwd() .. "/a.out"),
    processes = function()
      return tonumber(vim.fn.input("Processes: ", "4"))
    end,
    stop = "main",
  },
  {
    type = "rmctl",
    request = "attach",
    name = "rmctl: attach to a job",
    job = ask("Job", ""),
  },
}

for _, language in ipairs({ "c", "cpp", "fortran", "go", "rust" }) do
  dap.configurations[language] = vim.list_extend(dap.configurations[language] or {}, configurations)
end
