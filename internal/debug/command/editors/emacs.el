;; rmctl for dape 0.20.0 or later: debugs all processes of a parallel program.
;; Put these lines into init.el. M-x dape RET rmctl RET starts; rmctl-attach attaches to a job.
(with-eval-after-load 'dape
  (add-to-list 'dape-configs
               '(rmctl
                 modes (c-mode c-ts-mode c++-mode c++-ts-mode f90-mode fortran-mode go-mode go-ts-mode rust-mode rust-ts-mode)
                 command "rmctl"
                 command-args ("debug" "--dap")
                 command-cwd dape-command-cwd
                 :type "rmctl"
                 :request "launch"
                 :program "a.out"
                 :args []
                 :processes 4
                 :stop "main"))
  (add-to-list 'dape-configs
               '(rmctl-attach
                 modes (c-mode c-ts-mode c++-mode c++-ts-mode f90-mode fortran-mode go-mode go-ts-mode rust-mode rust-ts-mode)
                 command "rmctl"
                 command-args ("debug" "--dap")
                 command-cwd dape-command-cwd
                 :type "rmctl"
                 :request "attach"
                 :job "4711")))
