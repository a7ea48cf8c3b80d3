#!/bin/sh
#PBS -l nodes=7
#SBATCH --nodes=7
echo "${HOME} $(date)" 
